import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct UnreadTests {
  @Test(
    "unread counts equal a recount message by message, while a random history grows",
    arguments: [1, 2, 3, 4] as [UInt64])
  func recount(seed: UInt64) throws {
    let history = RandomHistory(seed: seed, events: 4000)
    let queue = try build(RoomsProjection.self, history.events, batch: 97)
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      for room in history.roomIDs {
        for user in history.userIDs {
          #expect(try queries.unreadCount(in: room, for: user) == history.unread(user, in: room), "seed \(seed)")
        }
      }
    }
  }

  @Test(
    "the badge is the sum over rooms that are neither archived nor muted at the time", arguments: [5, 6] as [UInt64])
  func badge(seed: UInt64) throws {
    let history = RandomHistory(seed: seed, events: 4000)
    let queue = try build(RoomsProjection.self, history.events)
    let now = history.script.last.time
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      for user in history.userIDs {
        var expected: UInt64 = 0
        for room in history.roomIDs {
          guard case .open(let state) = history.rooms[room], let member = state.members[user] else { continue }
          if let until = member.mutedUntil, until > now { continue }
          expected += history.unread(user, in: room) ?? 0
        }
        #expect(try queries.badge(of: user, at: now) == expected, "seed \(seed)")
      }
    }
  }

  @Test("unread starts at the join, sending moves the marker, and a deleted message is not unread")
  func rules() throws {
    let (alice, bob, room): (UserID, UserID, RoomID) = (.numbered(1), .numbered(2), .numbered(9))
    var script = EventScript()
    script.register(alice, "alice")
    script.register(bob, "bob")
    script.create(room, by: alice)
    script.send(10, to: room, by: alice, firstID: 100)
    script.room(room, .members(.joined(bob, role: .member, invite: nil)), by: bob)
    script.send(5, to: room, by: alice, firstID: 200)
    script.room(room, .messages(.deleted(.numbered(100), at: .room(1))), by: alice)
    script.room(room, .messages(.deleted(.numbered(200), at: .room(11))), by: alice)
    let queue = try build(RoomsProjection.self, script.events)
    func unread(_ user: UserID) throws -> UInt64? {
      try queue.read { try RoomsQueries($0).unreadCount(in: room, for: user) }
    }
    #expect(try unread(bob) == 4)
    #expect(try unread(alice) == 0)
    #expect(try unread(.numbered(3)) == nil)

    let before = script.events.count
    script.room(room, .messages(.sent(.numbered(300), author: bob, thread: nil, .plain("here"))), by: bob)
    script.room(room, .reading(.markerMoved(bob, to: .numbered(201), ordinal: 12)), by: bob)
    try apply(RoomsProjection.self, script.events, from: before, to: queue)
    #expect(try unread(bob) == 0)
    #expect(try unread(alice) == 1)
  }

  @Test("a muted room counts in the badge only after its mute ends, an archived one never; both keep their own count")
  func mutedAndArchived() throws {
    let (alice, bob, room): (UserID, UserID, RoomID) = (.numbered(1), .numbered(2), .numbered(9))
    var script = EventScript()
    script.create(room, by: alice)
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    script.send(3, to: room, by: alice, firstID: 100)
    let until = Timestamp(milliseconds: EventScript.start + 60_000)
    script.room(room, .members(.muted(bob, until: until)), by: bob)
    let queue = try build(RoomsProjection.self, script.events)
    func badge(at time: Timestamp) throws -> UInt64 {
      try queue.read { try RoomsQueries($0).badge(of: bob, at: time) }
    }
    #expect(try badge(at: until.adding(milliseconds: -1)) == 0)
    #expect(try badge(at: until) == 3)
    #expect(try queue.read { try RoomsQueries($0).unreadCount(in: room, for: bob) } == 3)

    var applied = script.events.count
    script.room(room, .members(.muted(bob, until: nil)), by: bob)
    try apply(RoomsProjection.self, script.events, from: applied, to: queue)
    #expect(try badge(at: until.adding(milliseconds: -1)) == 3)
    applied = script.events.count
    script.room(room, .lifecycle(.archived), by: alice)
    try apply(RoomsProjection.self, script.events, from: applied, to: queue)
    #expect(try badge(at: until) == 0)
    #expect(try queue.read { try RoomsQueries($0).roomList(of: bob, limit: 30).rooms } == [])
    #expect(try queue.read { try RoomsQueries($0).roomListRow(room, for: bob)?.unreadCount } == 3)
  }

  @Test("the last message, once deleted, keeps its place with an empty text")
  func deletedLastMessage() throws {
    let (alice, room): (UserID, RoomID) = (.numbered(1), .numbered(9))
    var script = EventScript()
    script.create(room, by: alice)
    script.send(2, to: room, by: alice, firstID: 100)
    script.room(room, .messages(.edited(.numbered(100), at: .room(1), .plain("not the last"))), by: alice)
    let stamp = script.room(room, .messages(.deleted(.numbered(101), at: .room(2))), by: alice)
    let queue = try build(RoomsProjection.self, script.events)
    let row = try queue.read { try RoomsQueries($0).room(room) }
    let last = try #require(row?.lastMessage)
    #expect(last.id == .numbered(101) && last.ordinal == 2 && last.text.isEmpty)
    #expect(last.deletedAt == stamp.time && last.revision == stamp.position)
    #expect(row?.activity == LogPosition(4))
  }
}
