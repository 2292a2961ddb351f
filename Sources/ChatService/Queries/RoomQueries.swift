package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

extension ChatService {
  package func roomList(
    of user: UserID, in list: TrackedRoom.List = .open, _ filter: RoomListFilter = RoomListFilter(),
    after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> RoomListPage {
    try await rooms { try $0.roomList(of: user, in: [list], filter, after: cursor, limit: limit) }
  }

  /// A room as the user sees it: as a member, or as a user who can find a public channel. Without a user, for a service
  /// that acts for itself: then without its messages.
  package func room(
    _ room: RoomID, for user: UserID?
  ) async throws(ServiceError) -> (
    RoomListRow, profiles: [UserID: Profile]
  ) {
    let found: (RoomListRow, [UserID: Profile])? = try await rooms { rooms in
      let row = if let user { try rooms.visibleRoom(room, for: user) } else { try rooms.bareRoom(room) }
      guard let row else { return nil }
      return (row, try rooms.profiles(in: [row]))
    }
    guard let found else { throw .rejected(.roomNotFound) }
    return found
  }

  package func members(
    of room: RoomID, for user: UserID, after cursor: LogPosition?, limit: Int
  )
    async throws(ServiceError) -> MemberPage
  {
    let page: MemberPage? = try await rooms { rooms in
      let isMember = try rooms.member(user, of: room) != nil
      let mayLook = try isMember || rooms.administers(room, user) == true
      guard mayLook else { return nil }
      return try rooms.members(of: room, after: cursor, limit: limit)
    }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  /// What is unread now in the rooms of the user that are neither archived, hidden nor muted, and in threads there.
  /// - Parameter position: nil for now.
  package func badge(
    of user: UserID, upTo position: LogPosition? = nil
  ) async throws(ServiceError) -> (BadgeRow, position: LogPosition) {
    let now = now()
    return try await rooms(upTo: position) { (try $0.badges(of: user, at: now), try $0.checkpoint().position) }
  }

  /// A page of the rooms that make up the badge, and the first unread messages of each, oldest first. A room has none if it
  /// was deleted, or the user left it, meanwhile.
  package func badgeRooms(
    of user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> (page: BadgeRoomPage, messages: [RoomID: [UnreadMessageRow]], position: LogPosition) {
    let now = now()
    let (page, position) = try await rooms { rooms in
      (try rooms.badgeRooms(of: user, at: now, after: cursor, limit: limit), try rooms.checkpoint().position)
    }
    let messages = try await timeline(upTo: position) { timeline in
      try page.rooms.reduce(into: [RoomID: [UnreadMessageRow]]()) { found, room in
        found[room.room] = try timeline.unreadMessages(room.firstUnread, of: room.room, for: user)
      }
    }
    return (page, messages, position)
  }

  /// - Parameter position: what the query reads has everything up to here. Nil for the head.
  func rooms<T: Sendable>(
    upTo position: LogPosition? = nil, _ body: @escaping @Sendable (RoomsQueries) throws -> T
  ) async throws(ServiceError) -> T {
    let position = position ?? store.head
    return try await failing {
      try await self.readModels.rooms.wait(for: position)
      return try await self.readModels.rooms.read(body)
    }
  }
}
