import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct ModerationQueriesTests {
  private let alice: UserID = .numbered(1)
  private let bob: UserID = .numbered(2)
  private let carol: UserID = .numbered(3)
  private let room: RoomID = .numbered(9)

  private func script() -> EventScript {
    var script = EventScript()
    for (user, name) in [(alice, "alice"), (bob, "bob"), (carol, "carol")] { script.register(user, name) }
    script.create(room, by: alice)
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    script.room(room, .members(.joined(carol, role: .member, invite: nil)), by: carol)
    script.room(room, .members(.roleChanged(bob, .administrator)), by: alice)
    script.room(room, .members(.banned(carol)), by: bob)
    script.room(room, .members(.banned(carol)), by: alice)
    script.room(room, .members(.unbanned(carol)), by: bob)
    script.room(room, .members(.unbanned(carol)), by: bob)
    script.room(room, .members(.added(carol, role: .member)), by: bob)
    script.room(room, .members(.left(carol)), by: carol)
    script.room(room, .members(.left(carol)), by: carol)
    script.room(room, .members(.removed(bob)), by: nil)
    return script
  }

  @Test("the join history lists each change once, the newest first, with its actor", arguments: [1, 3, 30])
  func joinHistory(limit: Int) throws {
    let queue = try build(RoomsProjection.self, script().events)
    var (entries, next): ([JoinHistoryRow], LogPosition?) = ([], nil)
    try queue.read { (database) throws in
      repeat {
        let page = try RoomsQueries(database).joinHistory(of: room, before: next, limit: limit)
        #expect(page.entries.allSatisfy { page.profiles[$0.user] != nil })
        entries += page.entries
        next = page.next
      } while next != nil
    }
    let told = entries.map { "\($0.change.name) \($0.user == alice ? "alice" : $0.user == bob ? "bob" : "carol")" }
    #expect(
      told == [
        "removed bob", "left carol", "added carol", "unbanned carol", "banned carol", "role_changed bob",
        "joined carol",
        "added bob", "joined alice",
      ])
    #expect(entries.map(\.actor) == [nil, carol, bob, bob, bob, alice, carol, alice, alice])
    #expect(entries.map(\.role) == [nil, nil, .member, nil, nil, .administrator, .member, .member, .owner])
  }

  @Test("bans are listed until they are lifted, with the user who banned first")
  func bans() throws {
    let events = script().events
    let end = try #require(events.firstIndex { $0.event == .room(room, .members(.unbanned(carol))) })
    try build(RoomsProjection.self, Array(events[..<end])).read { (database) throws in
      let page = try RoomsQueries(database).bans(of: room, limit: 1)
      #expect(page.bans.map(\.user) == [carol] && page.bans.map(\.banner) == [bob] && page.next == nil)
      #expect(try RoomsQueries(database).isBanned(carol, from: room))
      #expect(try RoomsQueries(database).member(carol, of: room) == nil)
    }
    try build(RoomsProjection.self, events).read { (database) throws in
      #expect(try RoomsQueries(database).bans(of: room, limit: 1).bans.isEmpty)
      #expect(try !RoomsQueries(database).isBanned(carol, from: room))
    }
  }

  @Test("a member who leaves while silenced is still silenced after rejoining")
  func silence() throws {
    var script = script()
    let until = script.last.time.adding(milliseconds: 60_000)
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    script.room(room, .members(.silenced(bob, until: until)), by: alice)
    script.room(room, .members(.left(bob)), by: bob)
    let queue = try build(RoomsProjection.self, script.events)
    func silence() throws -> Timestamp? {
      try queue.read { try RoomsQueries($0).member(bob, of: room)?.silencedUntil }
    }
    #expect(try silence() == nil)
    let before = script.events.count
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    try apply(RoomsProjection.self, script.events, from: before, to: queue)
    #expect(try silence() == until)
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM silencedAway") } == 0)
  }
}
