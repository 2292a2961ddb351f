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
          #expect(room.firstUnread == firstUnread(user, in: room.room, history))
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
  private func firstUnread(_ user: UserID, in room: RoomID, _ history: RandomHistory) -> UInt64? {
    guard let member = history.rooms[room]?.room?.members[user] else { return nil }
    let start = Int(member.unreadFrom.map { min(member.marker, $0 - 1) } ?? member.marker)
    let after = (history.messages[room] ?? []).dropFirst(start)
    return after.firstIndex { !$0.isDeleted && !$0.leftOut.contains(user) }.map { UInt64($0 + 1) }
  }
}
