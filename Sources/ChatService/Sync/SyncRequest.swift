package import ChatPrimitives

/// What a client asks for: one page of what changed for its user, or of the initial state.
package struct SyncRequest: Sendable, Hashable {
  /// `next` of the previous page, or of an earlier response. Nil for the initial state.
  package var position: SyncPosition?
  /// The maximum number of changes on the page, from 1.
  package var limit: Int
  /// The maximum number of new messages of each room, with the replies in its threads. Nil for all of them.
  package var perRoom: Int?
  package var filter: SyncFilter
  /// The position at which a catch-up ends that begins with this page. It must be durable. Nil for the head.
  package var target: LogPosition?

  package init(
    after position: SyncPosition?, limit: Int, perRoom: Int? = nil, filter: SyncFilter = SyncFilter(),
    target: LogPosition? = nil
  ) {
    self.position = position
    self.limit = limit
    self.perRoom = perRoom
    self.filter = filter
    self.target = target
  }
}

/// Which items a client wants.
package struct SyncFilter: Sendable, Hashable {
  /// Only these rooms and what they contain. What is in no room is not affected. Nil for all rooms.
  package var rooms: Set<RoomID>?
  /// Only items of these types, and tombstones of them. Nil for all types.
  package var types: Set<SyncItemType>?
  /// Only notices of these types on a stream. Nil for all types.
  package var notices: Set<LiveNoticeType>?

  package init(
    rooms: Set<RoomID>? = nil, types: Set<SyncItemType>? = nil, notices: Set<LiveNoticeType>? = nil
  ) {
    self.rooms = rooms
    self.types = types
    self.notices = notices
  }
}

/// The type of an item. The raw values are part of the API.
package enum SyncItemType: String, Sendable, CaseIterable {
  case account, preferences, device, session, blockedUser, workspace, workspaceMember, invitation, scheduledMessage
  case room, member, readMarker, thread, message, user, gap, badge
}
