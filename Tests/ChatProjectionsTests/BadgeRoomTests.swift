import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite("The rooms that make up a badge")
struct BadgeRoomTests {
  @Test("add up to it, whatever the length of the pages", arguments: [7, 8] as [UInt64])
  func sums(seed: UInt64) throws {
    let history = RandomHistory(seed: seed, events: 4000)
    let queue = try build(RoomsProjection.self, history.events)
    let now = history.script.last.time
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      for user in history.userIDs {
        let badge = try queries.badges(of: user, at: now)
        let rooms = try pages(queries, of: user, at: now, limit: 2)
        #expect(rooms.reduce(0) { $0 + $1.unreadCount } == badge.unread)
        #expect(rooms.reduce(0) { $0 + $1.mentionCount } == badge.mentions)
        #expect(try queries.badgeRooms(of: user, at: now, limit: 200) == BadgeRoomPage(badge: badge, rooms: rooms))
        for room in rooms {
          #expect(room.unreadCount == history.unread(user, in: room.room))
          let expected = unread(user, in: room.room, history)
          #expect(room.firstUnread == Array(expected.prefix(RoomsQueries.badgeMessagesOfRoom)))
        }
      }
    }
  }

  @Test("a page reads a limited number of rooms, and the next one continues there")
  func limit() throws {
    let (alice, bob): (UserID, UserID) = (.numbered(1), .numbered(2))
    var script = EventScript()
    let rooms = (0..<UInt64(RoomsQueries.roomsReadForBadge) + 1).map { RoomID.numbered(10 + $0) }
    for room in rooms {
      script.create(room, by: alice)
      script.room(room, .members(.added(bob, role: .member)), by: alice)
    }
    // The room with the oldest activity is the last to be read.
    script.send(1, to: rooms[0], by: alice, firstID: 5_000)
    for (number, room) in rooms.dropFirst().enumerated() {
      script.send(1, to: room, by: alice, firstID: 10_000 + UInt64(number))
      script.room(room, .reading(.markerMoved(bob, to: .numbered(10_000 + UInt64(number)), ordinal: 1)), by: bob)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      let first = try queries.badgeRooms(of: bob, at: script.last.time, limit: 30)
      #expect((first.badge.unread, first.rooms) == (1, []))
      let second = try queries.badgeRooms(of: bob, at: script.last.time, after: try #require(first.next), limit: 30)
      #expect(second.rooms.map(\.room) == [rooms[0]] && second.next == nil)
    }
  }

  @Test("a room names at most 20 messages, and finds them between any number of deleted ones", arguments: [-1, 0, 1])
  func messagesOfRoom(excess: Int) throws {
    let (alice, bob): (UserID, UserID) = (.numbered(1), .numbered(2))
    let room: RoomID = .numbered(10)
    let unread = RoomsQueries.badgeMessagesOfRoom + excess
    var script = EventScript()
    script.create(room, by: alice)
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    // Of every 150 messages only the last counts. So most bitmaps, of 64 messages each, have none that counts.
    for number in 1...UInt64(unread * 150) {
      script.send(to: room, by: alice, firstID: 1_000 + number)
      guard number % 150 != 0 else { continue }
      script.room(room, .messages(.deleted(.numbered(1_000 + number), at: .room(number))), by: alice)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let page = try RoomsQueries(database).badgeRooms(of: bob, at: script.last.time, limit: 30)
      #expect(page.rooms.map(\.unreadCount) == [UInt64(unread)])
      #expect(
        page.rooms.map(\.firstUnread)
          == [(1...UInt64(unread)).prefix(RoomsQueries.badgeMessagesOfRoom).map { $0 * 150 }])
    }
  }

  @Test("a page with 200 messages names only the first of each further room")
  func messagesOfPage() throws {
    let (alice, bob): (UserID, UserID) = (.numbered(1), .numbered(2))
    var script = EventScript()
    for number in 1...UInt64(14) {
      script.create(.numbered(number), by: alice)
      script.room(.numbered(number), .members(.added(bob, role: .member)), by: alice)
      script.send(number == 14 ? 15 : 30, to: .numbered(number), by: alice, firstID: number * 1_000)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      let page = try queries.badgeRooms(of: bob, at: script.last.time, limit: 30)
      #expect(page.rooms.map(\.firstUnread.count) == [15] + Array(repeating: 20, count: 9) + [5, 1, 1, 1])
      #expect(page.rooms.dropFirst().allSatisfy { $0.unreadCount == 30 })
      let first = try queries.badgeRooms(of: bob, at: script.last.time, limit: 12)
      let second = try queries.badgeRooms(of: bob, at: script.last.time, after: try #require(first.next), limit: 12)
      #expect(second.rooms.map(\.firstUnread.count) == [20, 20])
    }
  }

  private func pages(_ queries: RoomsQueries, of user: UserID, at time: Timestamp, limit: Int) throws -> [BadgeRoom] {
    var (found, cursor): ([BadgeRoom], LogPosition?) = ([], nil)
    repeat {
      let page = try queries.badgeRooms(of: user, at: time, after: cursor, limit: limit)
      found += page.rooms
      cursor = page.next
    } while cursor != nil
    return found
  }

  /// Found by reading one message after another.
  private func unread(_ user: UserID, in room: RoomID, _ history: RandomHistory) -> [UInt64] {
    guard let member = history.rooms[room]?.room?.members[user] else { return [] }
    let start = Int(member.unreadFrom.map { min(member.marker, $0 - 1) } ?? member.marker)
    let all = history.messages[room] ?? []
    return all.indices.dropFirst(start).filter { !all[$0].isDeleted && !all[$0].leftOut.contains(user) }
      .map { UInt64($0 + 1) }
  }
}
