package import ChatDomain
package import ChatPrimitives

/// A message as clients see it.
package struct MessageRow: Sendable, Hashable {
  package var room: RoomID
  package var id: MessageID
  /// Its place in the room, from 1, without gaps.
  package var ordinal: UInt64
  package var sender: UserID
  /// Empty once the message was deleted, or its text erased.
  package var text: String
  package var sentAt: Timestamp
  /// Where it was sent.
  package var position: LogPosition
  /// Where it was last written: sent, edited or deleted.
  package var revision: LogPosition
  package var editedAt: Timestamp?
  package var deletedAt: Timestamp?
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
  /// Where it was last created, renamed or archived.
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
}

package struct InviteRow: Sendable, Hashable {
  package var room: RoomID
  package var invite: Invite
  /// How many joins came by it.
  package var uses: UInt64
  package var created: Stamp
  /// nil when a service made it for itself.
  package var creator: UserID?
  package var revoked: Stamp?
}

/// A room as one of its members sees it.
package struct RoomListRow: Sendable, Hashable {
  package var room: RoomRow
  package var member: MemberRow
  package var unreadCount: UInt64
  /// Mentions come later; until then none are counted.
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
