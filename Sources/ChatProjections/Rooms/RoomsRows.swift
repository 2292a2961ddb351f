package import ChatDomain
package import ChatPrimitives

/// A message as clients see it.
package struct MessageRow: Sendable, Hashable {
  package var room: RoomID
  package var id: MessageID
  /// The ordinal of the root of the thread that it is in; zero in the room's own timeline.
  package var thread: UInt64 = 0
  /// Its place in the room or the thread, from 1, without gaps.
  package var ordinal: UInt64
  package var sender: UserID
  /// Empty once the message was deleted, or its text erased.
  package var text: String
  /// What few messages have beside a text; nil once the message was deleted.
  package var details: MessageDetails?
  package var sentAt: Timestamp
  /// Where it was sent.
  package var position: LogPosition
  /// Where it was last written: sent, edited or deleted.
  package var revision: LogPosition
  package var editedAt: Timestamp?
  package var deletedAt: Timestamp?

  package var place: MessageLocation { MessageLocation(thread: thread, ordinal: ordinal) }

  /// Puts an edit's text and mentions in the place of its own. All else stays.
  mutating func edit(_ edit: MessageEdit?) {
    text = edit?.text ?? ""
    details = MessageDetails.edited(details, edit?.mentions ?? Mentions())
  }
}

package struct RoomRow: Sendable, Hashable {
  package var id: RoomID
  package var kind: RoomKind
  package var name: String
  /// nil when a service made the room, or the creation was erased.
  package var creator: UserID?
  /// nil when the creation was erased.
  package var creationFingerprint: Fingerprint?
  package var created: Stamp
  /// Whose channel it is.
  package var workspace: WorkspaceID?
  package var isPublic: Bool
  package var hasHadOwner = false
  /// Its tracked members, in the order in which they joined.
  package var tracked: [UserID] = []
  package var picture: MediaID?
  /// nil where there is none.
  package var topic: String?
  /// Where it was last created, edited, archived or opened again.
  package var revision: LogPosition
  package var archived: Stamp?
  package var lastOrdinal: UInt64
  package var memberCount: UInt64
  /// How many of its messages are deleted.
  package var deletedCount: UInt64
  /// Where the last message was sent; the creation while there is none. Room lists are sorted by it.
  package var activity: LogPosition
  package var lastMessage: MessageRow?
}

package struct MemberRow: Sendable, Hashable {
  package var room: RoomID
  package var user: UserID
  package var role: Role
  package var joined: Stamp
  /// The room's last ordinal at the join.
  package var joinedOrdinal: UInt64
  /// The ordinal up to which the member has read; never less than `joinedOrdinal`.
  package var marker: UInt64
  package var mutedUntil: Timestamp?
  /// Until when the member may not speak.
  package var silencedUntil: Timestamp?
  /// The message that the marker stands at, and since when; nil until the member has read or said something.
  package var read: ReadPoint?
  /// From where on the member wants messages shown as unread though the marker is past them.
  package var unread: UnreadMark?
  /// nil of a member who is not tracked.
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
}

/// Receipts in the order in which their members joined.
package struct ReceiptPage: Sendable, Hashable {
  package var receipts: [ReceiptRow]
  package var nicknames: [UserID: String]
  /// Where the next page goes on; nil when there is none.
  package var next: LogPosition?
}

/// A room as one user sees it.
package struct RoomListRow: Sendable, Hashable {
  package var room: RoomRow
  /// nil for who only finds it: a public channel, without what is said in it.
  package var member: MemberRow?
  /// Of a direct room all of its members, in the order of their IDs; empty for any other.
  package var participants: [UserID]
  package var unreadCount: UInt64
  /// How many of them call the user, by name or with everyone.
  package var mentionCount: UInt64
}

/// Rooms, latest activity first.
package struct RoomListPage: Sendable, Hashable {
  package var rooms: [RoomListRow]
  /// The nicknames of the last messages' senders.
  package var nicknames: [UserID: String]
  /// Where the next page goes on; nil when there is none.
  package var next: LogPosition?
}

/// Members in the order in which they joined.
package struct MemberPage: Sendable, Hashable {
  package var members: [MemberRow]
  package var nicknames: [UserID: String]
  /// Where the next page goes on; nil when there is none.
  package var next: LogPosition?
}
