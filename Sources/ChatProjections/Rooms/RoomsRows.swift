package import ChatDomain
package import ChatPrimitives

/// A message as clients see it.
package struct MessageRow: Sendable, Hashable {
  package var room: RoomID
  package var id: MessageID
  /// The ordinal of the root of the message's thread; zero in the room's own timeline.
  package var thread: UInt64 = 0
  /// Its number in the room or the thread, from 1, without gaps.
  package var ordinal: UInt64
  package var sender: UserID
  /// Empty if the message was deleted or its text was erased.
  package var text: String
  /// What a message has besides its text, for example attachments. Nil if it has only text or was deleted.
  package var details: MessageDetails?
  package var sentAt: Timestamp
  /// Where it was sent.
  package var position: LogPosition
  /// Where it was last changed: sent, edited or deleted.
  package var revision: LogPosition
  package var editedAt: Timestamp?
  package var deletedAt: Timestamp?

  package var location: MessageLocation { MessageLocation(thread: thread, ordinal: ordinal) }

  /// Replaces what the edit changes.
  mutating func edit(_ edit: MessageEdit?) {
    let content = MessageContent(text: text, details: details).edited(by: edit)
    (text, details) = (content.text, content.details)
  }
}

package struct RoomRow: Sendable, Hashable {
  package var id: RoomID
  package var kind: RoomKind
  package var name: String
  /// Nil if a service created the room, or the creation was erased.
  package var creator: UserID?
  /// Nil if the creation was erased.
  package var creationFingerprint: Fingerprint?
  package var created: Stamp
  /// The workspace of a channel or a direct room.
  package var workspace: WorkspaceID?
  package var isPublic: Bool
  package var hasHadOwner = false
  /// The IDs of its tracked members, in the order in which they joined.
  package var tracked: [UserID] = []
  package var picture: MediaID?
  /// Nil if the room has no topic.
  package var topic: String?
  /// Where it was last changed: created, edited, archived or restored.
  package var revision: LogPosition
  package var archived: Stamp?
  package var lastOrdinal: UInt64
  package var memberCount: UInt64
  /// The number of its messages that count for nobody: deleted messages, and silent ones.
  package var deletedCount: UInt64
  /// Where the last message was sent; where the room was created if there is none. Room lists are sorted by it.
  package var activity: LogPosition
  /// Where anything last changed that the room's members mirror: the room, its members, markers or messages.
  package var changed: LogPosition
  /// Where the room as all of its members see it last changed. A reaction, for example, does not change it.
  package var shown: LogPosition
  /// Where the room first had more than `Limits.receiptMembers` members. Nil if it never had.
  package var largeSince: LogPosition?
  package var lastMessage: MessageRow?
}

package struct MemberRow: Sendable, Hashable {
  package var room: RoomID
  package var user: UserID
  package var role: Role
  package var joined: Stamp
  /// The room's last ordinal when the member joined.
  package var joinedOrdinal: UInt64
  /// The ordinal up to which the member has read; never less than `joinedOrdinal`.
  package var marker: UInt64
  package var mutedUntil: Timestamp?
  /// Which notifications of the room the member gets; nil for those of the user's preferences.
  package var notifications: NotificationLevel?
  /// Whether the room is not in the member's list until the next message. Only a direct room can be hidden.
  package var isHidden = false
  /// Until when the member may not send messages.
  package var silencedUntil: Timestamp?
  /// The message at the marker, and when the marker was moved there. Nil until the member has read or sent something.
  package var read: ReadPoint?
  /// From which message on messages are shown as unread, although the marker is beyond it.
  package var unread: UnreadMark?
  /// Where the membership itself last changed: the role, a silence, a mute, the notifications, whether the room is
  /// hidden, the marker or the unread mark.
  package var own: LogPosition
  /// Where the marker last moved. Nil if it never did.
  package var markerPosition: LogPosition?
  /// Nil if the member is not tracked.
  package var tracked: TrackedRoom?

  /// The ordinal after which messages count as unread.
  package var readThrough: UInt64 { unread.map { min(marker, $0.ordinal - min($0.ordinal, 1)) } ?? marker }
}

package struct ReadPoint: Sendable, Hashable {
  package var message: MessageID
  package var time: Timestamp
}

package struct UnreadMark: Sendable, Hashable {
  package var ordinal: UInt64
  package var message: MessageID
}

/// How far one member has read.
package struct ReceiptRow: Sendable, Hashable {
  package var user: UserID
  package var read: ReadPoint
  package var joined: LogPosition

  package init(user: UserID, read: ReadPoint, joined: LogPosition) {
    self.user = user
    self.read = read
    self.joined = joined
  }
}

/// Receipts in the order in which the members joined.
package struct ReceiptPage: Sendable, Hashable {
  package var receipts: [ReceiptRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// A room as one user sees it.
package struct RoomListRow: Sendable, Hashable {
  package var room: RoomRow
  /// Nil if the user only finds the room: a public channel, shown without its messages.
  package var member: MemberRow?
  /// All members of a direct room, and those who have left its workspace, ordered by ID; empty for any other room.
  package var participants: [UserID]
  package var unreadCount: UInt64
  /// How many of the unread messages mention the user, by name or with everyone.
  package var mentionCount: UInt64
  /// Whether the user blocks the sender of the last message now.
  package var isLastFromBlockedUser = false
  /// The app's own data, as canonical JSON; nil if there is none.
  package var custom: String?
}

/// Which rooms a list has, or the threads of which rooms. Nil admits rooms with any value.
package struct RoomListFilter: Sendable, Hashable {
  package var kind: RoomKind?
  package var workspace: WorkspaceID?

  package init(kind: RoomKind? = nil, workspace: WorkspaceID? = nil) {
    self.kind = kind
    self.workspace = workspace
  }

  var admitsAll: Bool { kind == nil && workspace == nil }

  /// How many rooms, or threads of rooms, a page looks at.
  func mostExamined(forPageOf limit: Int) -> Int { admitsAll ? limit : Limits.roomsFilteredForPage }
}

/// Rooms, latest activity first.
package struct RoomListPage: Sendable, Hashable {
  package var rooms: [RoomListRow]
  /// The profiles of the last messages' senders and of the members of direct rooms.
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// Members in the order in which they joined.
package struct MemberPage: Sendable, Hashable {
  package var members: [MemberRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

extension PictureEdit {
  func apply(to picture: inout MediaID?) {
    switch self {
    case .set(let media): picture = media
    case .remove: picture = nil
    }
  }
}
