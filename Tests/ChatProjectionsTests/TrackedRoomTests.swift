import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Testing

@testable import ChatProjections

@Suite("lists of rooms and badges are kept up to date, at a limited cost on either side")
struct TrackedRoomTests {
  private let owner = UserID.numbered(1)
  private let bob = UserID.numbered(2)

  private func fill(_ room: RoomID, to members: Int, _ script: inout EventScript) {
    script.create(room, by: owner)
    for number in 1..<UInt64(max(1, members)) {
      script.room(room, .members(.added(.numbered(1000 + number), role: .member)), by: owner)
    }
  }

  @Test("a room tracks its first members", arguments: [(7, true), (8, false), (9, false)])
  func firstMembers(before: Int, isTracked: Bool) throws {
    var script = EventScript()
    fill(.numbered(9), to: before, &script)
    script.room(.numbered(9), .members(.added(bob, role: .member)), by: owner)
    script.send(3, to: .numbered(9), by: owner, firstID: 100)
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      #expect((try queries.member(bob, of: .numbered(9))?.tracked != nil) == isTracked)
      #expect(try queries.room(.numbered(9))?.tracked.count == 8)
      #expect(try queries.badges(of: bob, at: script.last.time).unread == 3)
      #expect(try queries.roomList(of: bob, limit: 5).rooms.map(\.unreadCount) == [3])
    }
  }

  @Test("a place that a member leaves is taken by the next one who joins")
  func freedPlace() throws {
    let room = RoomID.numbered(9)
    var script = EventScript()
    fill(room, to: 12, &script)
    script.room(room, .members(.left(.numbered(1001))), by: owner)
    script.room(room, .members(.added(bob, role: .member)), by: owner)
    script.send(2, to: room, by: owner, firstID: 100)
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      #expect(try queries.member(bob, of: room)?.tracked?.unreadCount == 2)
      #expect(try queries.room(room)?.tracked.count == 8)
    }
  }

  @Test("a user with many rooms that do not track them is tracked by the next ones, up to a limit of each room")
  func busyUsers() throws {
    var script = EventScript()
    let limit = UInt64(TrackedRoom.untrackedRooms)
    for number in 0..<limit + 2 {
      let room = RoomID.numbered(10_000 + number)
      fill(room, to: 8, &script)
      script.room(room, .members(.added(bob, role: .member)), by: owner)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      func isTracked(_ number: UInt64) throws -> Bool {
        try queries.member(bob, of: .numbered(10_000 + number))?.tracked != nil
      }
      #expect(try !isTracked(limit - 1) && isTracked(limit) && isTracked(limit + 1))
      #expect(
        try queries.roomList(of: bob, limit: 200).rooms.map(\.room.id)
          == (0..<200).map {
            .numbered(10_000 + limit + 1 - $0)
          })
    }
  }

  @Test("a room tracks no more than 16 members, however many busy users join it")
  func limitWithBusyUsers() throws {
    let users = (0..<9 as Range<UInt64>).map { UserID.numbered(2000 + $0) }
    let full = RoomID.numbered(10_000 + UInt64(TrackedRoom.untrackedRooms))
    var script = EventScript()
    // In all rooms but the last one, the users are not tracked. That makes them busy.
    for number in 0...UInt64(TrackedRoom.untrackedRooms) {
      let room = RoomID.numbered(10_000 + number)
      fill(room, to: 8, &script)
      for user in users { script.room(room, .members(.added(user, role: .member)), by: owner) }
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      #expect(try queries.room(full)?.tracked.count == 16)
      let tracked = try users.filter { try queries.member($0, of: full)?.tracked != nil }
      #expect(tracked == Array(users.prefix(8)))
    }
  }

  @Test("a page and a badge cost the same in ten rooms as in a thousand, archived and unread ones too")
  func costOfReads() throws {
    func cost(_ count: Int) throws -> (list: Int, archived: Int, badge: Int) {
      var script = EventScript()
      for number in 0..<UInt64(count) {
        let room = RoomID.numbered(10_000 + number)
        fill(room, to: 2, &script)
        script.room(room, .members(.added(bob, role: .member)), by: owner)
        script.send(1, to: room, by: owner, firstID: 100)
        if number % 2 == 1 { script.room(room, .lifecycle(.archived), by: owner) }
      }
      return try build(RoomsProjection.self, script.events).read { (database) throws in
        let queries = RoomsQueries(database)
        #expect(try queries.badges(of: bob, at: script.last.time).unread == UInt64(count / 2))
        return (
          try steps(database) { _ = try queries.roomList(of: bob, limit: 5) },
          try steps(database) { _ = try queries.roomList(of: bob, in: [.archived], limit: 5) },
          try steps(database) { _ = try queries.badges(of: bob, at: script.last.time) }
        )
      }
    }
    #expect(try cost(14) == cost(1000))
  }

  @Test("a page with a filter looks at a limited number of rooms, and the next page continues there")
  func filteredList() throws {
    let others = Limits.roomsFilteredForPage
    var script = EventScript()
    let direct = RoomID.numbered(9)
    let creation = RoomCreation(kind: .direct, name: "", creator: owner, participants: [owner, bob])
    script.room(direct, .lifecycle(.created(creation)), by: owner)
    script.room(direct, .members(.joined(owner, role: .member, invite: nil)), by: owner)
    script.room(direct, .members(.added(bob, role: .member)), by: owner)
    for number in 0..<UInt64(others) {
      let room = RoomID.numbered(10_000 + number)
      fill(room, to: 1, &script)
      script.room(room, .members(.added(bob, role: .member)), by: owner)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      let first = try queries.roomList(of: bob, RoomListFilter(kind: .direct), limit: 5)
      #expect(first.rooms.isEmpty)
      let next = try queries.roomList(
        of: bob, RoomListFilter(kind: .direct), after: try #require(first.next), limit: 5)
      #expect(next.rooms.map(\.room.id) == [direct] && next.next == nil)
      let groups = try queries.roomList(of: bob, RoomListFilter(kind: .group), limit: 5)
      #expect(groups.rooms == (try queries.roomList(of: bob, limit: 5).rooms) && groups.next != nil)
    }
  }

  @Test("mutes that ended cost a badge no more when there are many, nor again for each workspace of a page")
  func costOfEndedMutes() throws {
    func cost(_ count: Int, workspaces: UInt64) throws -> (badge: Int, page: Int) {
      var script = EventScript()
      for number in 0..<UInt64(count) {
        let room = RoomID.numbered(10_000 + number)
        fill(room, to: 1, &script)
        script.room(room, .members(.added(bob, role: .member)), by: owner)
        script.room(room, .members(.muted(bob, until: script.last.time)), by: bob)
        script.send(1, to: room, by: owner, firstID: 100)
      }
      let end = script.last.time.adding(milliseconds: 1)
      return try build(RoomsProjection.self, script.events).read { (database) throws in
        let queries = RoomsQueries(database)
        #expect(try queries.badges(of: bob, at: end).unread == UInt64(min(count, RoomsQueries.endedMutes)))
        let page = (1...workspaces).map { WorkspaceID.numbered($0) }
        return (
          try steps(database) { _ = try queries.badges(of: bob, at: end) },
          try steps(database) { _ = try queries.workspaceBadges(of: bob, in: page, at: end) }
        )
      }
    }
    let (limit, more) = (RoomsQueries.endedMutes, RoomsQueries.endedMutes + 500)
    #expect(try cost(limit + 1, workspaces: 1).badge == cost(more, workspaces: 1).badge)
    #expect(try cost(100, workspaces: 50).page < 2 * cost(100, workspaces: 1).page)
  }

  @Test("no list of a user is sorted: each is a run of an index")
  func plans() throws {
    let queue = try build(RoomsProjection.self, [])
    try queue.read { (database) throws in
      for sql in [RoomsQueries.roomListParts[0], RoomsQueries.mutesThatEnded] {
        let plan = try Row.fetchAll(
          database, sql: "EXPLAIN QUERY PLAN " + sql,
          arguments: StatementArguments(Array(repeating: 1, count: sql.count { $0 == "?" }))
        ).map { $0["detail"] as String }
        #expect(plan.allSatisfy { !$0.contains("TEMP B-TREE") && !$0.hasPrefix("SCAN") }, "\(plan)")
        #expect(plan[0].contains("INDEX member_by_"), "\(plan)")
      }
    }
  }

  @Test("what is kept equals what is counted, while a random history grows", arguments: [31, 32, 33, 34, 35] as [UInt64])
  func recount(seed: UInt64) throws {
    let history = RandomHistory(seed: seed, events: 3000)
    for batch in [1, 61] {
      let queue = try build(RoomsProjection.self, history.events, batch: batch)
      try queue.read { (database) throws in
        let queries = RoomsQueries(database)
        var tracked = 0
        var totals: [[UUIDBytes]: BadgeRow] = [:]
        for room in history.roomIDs {
          for user in history.userIDs {
            guard let member = try queries.member(user, of: room), let row = try queries.room(room),
              let kept = member.tracked
            else { continue }
            tracked += 1
            let counted = try queries.counted(member, in: row)
            #expect(kept.unreadCount == counted.unread && kept.mentionCount == counted.mentions, "seed \(seed)")
            #expect(kept.activity == row.activity && (kept.list == .archived) == (row.archived != nil))
            #expect(row.tracked.contains(user))
            guard row.archived == nil, member.mutedUntil == nil, counted.unread > 0 else { continue }
            for scope in [BadgeTotals.allRooms, row.workspace?.uuid].compactMap({ $0 }) {
              totals[[user.uuid, scope], default: BadgeRow()].unread += counted.unread
              totals[[user.uuid, scope], default: BadgeRow()].mentions += counted.mentions
            }
          }
        }
        // Something was compared. How much depends on the seed.
        #expect(tracked > 10 && totals.count > 1, "seed \(seed)")
        #expect(try badges(database) == totals, "seed \(seed)")
      }
    }
  }

  /// The rows of `badge` with unread messages or mentions, by user and scope.
  private func badges(_ database: Database) throws -> [[UUIDBytes]: BadgeRow] {
    let rows = try CachedStatement(
      database, "SELECT userId, scope, unread, mentions FROM badge WHERE unread <> 0 OR mentions <> 0"
    ).all { row in
      let key = try [row.id(UserID.self).uuid, row.id(WorkspaceID.self).uuid]
      return (key, BadgeRow(unread: try row.unsigned(), mentions: try row.unsigned()))
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  @Test("a deleted room leaves the list and the badge at once")
  func deletedRoom() throws {
    let room = RoomID.numbered(9)
    var script = EventScript()
    fill(room, to: 3, &script)
    script.room(room, .members(.added(bob, role: .member)), by: owner)
    script.send(3, to: room, by: owner, firstID: 100)
    let before = script.events.count
    script.send(1, to: room, by: owner, firstID: 200)
    script.room(room, .lifecycle(.deleted), by: owner)
    let queue = try build(RoomsProjection.self, Array(script.events[..<before]))
    try apply(RoomsProjection.self, script.events, from: before, to: queue)
    try queue.read { (database) throws in
      #expect(try RoomsQueries(database).badges(of: bob, at: script.last.time) == BadgeRow())
      #expect(try RoomsQueries(database).roomList(of: bob, limit: 5).rooms.isEmpty)
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM badge") == 0)
    }
  }
}
