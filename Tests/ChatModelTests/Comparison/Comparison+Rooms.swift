import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension Comparison {
  /// Compares one room as one user sees it.
  func compareRoom(_ id: RoomID, for user: UserID) async throws {
    let expected: QueryResult<SeenRoom>
    if let room = model.rooms[id], model.visibility(of: room, to: user) != .none {
      expected = .found(SeenRoom(room, room.member(user), model))
    } else {
      expected = .refused("room_not_found")
    }
    let found = try await result { () async throws(ServiceError) in
      SeenRoom(try await chat.room(id, for: user).0)
    }
    try expect("room r\(id.short) for u\(user.short)", expected, found)
  }

  /// Compares the room list, page by page, and the badge.
  mutating func compareRooms(of user: UserID) async throws {
    let expected = model.roomList(of: user).compactMap { room in
      room.member(user).map { SeenRoom(room, $0, model) }
    }
    var found: [SeenRoom] = []
    var cursor: LogPosition?
    let limit = random.within(1...6)
    repeat {
      let page = try await chat.roomList(of: user, after: cursor, limit: limit)
      found += page.rooms.map { SeenRoom($0) }
      try expectProfiles(
        page.profiles, of: page.rooms.flatMap { $0.participants + [$0.room.lastMessage?.sender].compactMap { $0 } })
      cursor = page.next
    } while cursor != nil && found.count <= expected.count
    try expect("room list of u\(user.short), \(limit) at a time", expected, found)
    let badge = try await chat.badge(of: user).0
    let now = chat.now()
    try expect("badge of u\(user.short)", model.badge(of: user, at: now), Int(badge.unread))
    let rooms = try await chat.badgeRooms(of: user, after: nil, limit: Limits.pageItems).page.rooms
    try expect("the badge's rooms of u\(user.short)", badge.unread, rooms.reduce(0) { $0 + $1.unreadCount })
    try expect("the badge's mentions of u\(user.short)", badge.mentions, rooms.reduce(0) { $0 + $1.mentionCount })
    try expect("mentions of u\(user.short)", model.mentionBadge(of: user, at: now), Int(badge.mentions))
    try expect("threads in the badge of u\(user.short)", model.threadBadge(of: user, at: now), Int(badge.threadUnread))
  }

  /// Compares everything that can be requested about one room.
  mutating func compareDeeply(_ id: RoomID, for user: UserID) async throws {
    try await compareMembers(id, for: user)
    try await compareInvites(id, for: user)
    try await compareModeration(id, for: user)
    try await comparePages(id, for: user)
    try await comparePins(id, for: user)
    try await compareReceipts(id, for: user)
    try await compareScheduled(id, for: user)
    try await compareReports(id, for: user)
  }

  private mutating func compareMembers(_ id: RoomID, for user: UserID) async throws {
    let what = "members of r\(id.short) for u\(user.short)"
    let seen = model.rooms[id].flatMap { room in
      room.member(user) != nil || model.administers(room, user) == true ? room : nil
    }
    guard let room = seen, room.exists else {
      let found = try await result { () async throws(ServiceError) in
        try await chat.members(of: id, for: user, after: nil, limit: 5).members
      }
      return try expect(what, .refused("room_not_found"), found)
    }
    var found: [SeenMember] = []
    var cursor: LogPosition?
    let limit = random.within(1...8)
    repeat {
      let page = try await chat.members(of: id, for: user, after: cursor, limit: limit)
      found += page.members.map { SeenMember($0) }
      try expectProfiles(page.profiles, of: page.members.map(\.user))
      cursor = page.next
    } while cursor != nil && found.count <= room.members.count
    try expect("\(what), \(limit) at a time", room.members.map { SeenMember($0) }, found)
  }

  /// The expected response to a user for a list that only administrators may see.
  func forAdministrators<T: Equatable>(_ id: RoomID, _ user: UserID, _ list: (ModelRoom) -> T) -> QueryResult<T> {
    guard let room = model.rooms[id], let administers = model.administers(room, user) else {
      return .refused("room_not_found")
    }
    return administers ? .found(list(room)) : .refused("forbidden")
  }

  func expectProfiles(_ found: [UserID: Profile], of users: [UserID]) throws {
    for user in users {
      try expect("profile of u\(user.short) beside a page", model.profile(of: user), found[user])
    }
  }
}
