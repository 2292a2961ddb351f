import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import GRDBSQLite
import Testing

@testable import ChatProjections

/// The cost of reading and writing threads, in steps of SQLite's virtual machine and in changed rows, not in time.
@Suite struct ThreadCostTests {
  private let alice: UserID = .numbered(1)
  private let bob: UserID = .numbered(2)
  private let room: RoomID = .numbered(9)
  private var now: Timestamp { Timestamp(milliseconds: EventScript.start) }

  private func root(_ number: UInt64) -> ThreadLocation {
    ThreadLocation(
      root: ThreadRoot(message: .numbered(1_000_000 + number), ordinal: number), rootAuthor: alice, ordinal: 1)
  }

  private func reply(_ ordinal: UInt64, to number: UInt64, by author: UserID, _ script: inout EventScript) {
    var location = root(number)
    location.ordinal = ordinal
    script.room(
      room,
      .messages(.sent(.numbered(2_000_000 + number * 10 + ordinal), author: author, thread: location, .plain("x"))),
      by: author)
  }

  /// Bob follows this many threads and has read all but five of them to the end.
  private func queue(following count: UInt64) throws -> DatabaseQueue {
    var script = EventScript()
    script.create(room, by: alice)
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    script.send(Int(count), to: room, by: alice, firstID: 1_000_001)
    for number in 1...count { reply(1, to: number, by: bob, &script) }
    for number in 1...5 as ClosedRange<UInt64> { reply(2, to: number, by: alice, &script) }
    return try build(RoomsProjection.self, script.events)
  }

  @Test("a badge and a page of threads cost the same however many threads are followed")
  func reading() throws {
    func costs(_ count: UInt64) throws -> [Int] {
      try queue(following: count).read { (database) throws in
        let queries = RoomsQueries(database)
        #expect(try queries.badges(of: bob, at: now).threadUnread == 5)
        let first = try queries.followedThreads(of: bob, limit: 3)
        #expect(first.threads.map(\.root) == [5, 4, 3] && first.threads.map(\.unreadCount) == [1, 1, 1])
        let second = try queries.followedThreads(of: bob, after: first.next, limit: 4)
        #expect(second.threads.map(\.root) == [2, 1, count, count - 1])
        #expect(second.threads.map(\.unreadCount) == [1, 1, 0, 0])
        return try [
          steps(database) { _ = try queries.badges(of: bob, at: now) },
          steps(database) { _ = try queries.followedThreads(of: bob, limit: 3) },
          steps(database) { _ = try queries.followedThreads(of: bob, after: first.next, limit: 4) },
          steps(database) { _ = try queries.threadReading(7, in: room, of: bob) },
        ]
      }
    }
    for (few, many) in try zip(costs(10), costs(10_000)) { #expect(few > 0 && many <= few + few / 10) }
  }

  @Test("a badge and a page of threads cost no more when very many have something unread")
  func readingUnread() throws {
    func costs(_ count: UInt64) throws -> [Int] {
      var script = EventScript()
      script.create(room, by: alice)
      script.room(room, .members(.added(bob, role: .member)), by: alice)
      script.send(Int(count), to: room, by: alice, firstID: 1_000_001)
      for number in 1...count {
        reply(1, to: number, by: bob, &script)
        reply(2, to: number, by: alice, &script)
      }
      return try build(RoomsProjection.self, script.events).read { (database) throws in
        let queries = RoomsQueries(database)
        #expect(try queries.badges(of: bob, at: now).threadUnread == UInt64(RoomsQueries.unreadThreads))
        #expect(try queries.followedThreads(of: bob, limit: 3).threads.map(\.root) == [count, count - 1, count - 2])
        return try [
          steps(database) { _ = try queries.badges(of: bob, at: now) },
          steps(database) { _ = try queries.followedThreads(of: bob, limit: 3) },
        ]
      }
    }
    let limit = UInt64(RoomsQueries.unreadThreads)
    for (few, many) in try zip(costs(limit + 1), costs(limit + 1000)) { #expect(few > 0 && many <= few + few / 10) }
  }

  @Test("they find their rows by indexes, and sort only the threads with something unread")
  func plans() throws {
    try build(RoomsProjection.self, []).read { (database) throws in
      func plan(_ sql: String, _ arguments: Int) throws -> String {
        try Row.fetchAll(
          database, sql: "EXPLAIN QUERY PLAN " + sql,
          arguments: StatementArguments(Array(repeating: 1, count: arguments))
        ).map { String($0["detail"]) }.joined(separator: "\n")
      }
      for (sql, arguments) in [(RoomsQueries.badgeParts, 2)] + RoomsQueries.pageParts.map({ ($0, 3) }) {
        let plan = try plan(sql, arguments)
        // A subquery with a limit is not stored: its rows are read as it returns them.
        let tables = plan.contains("CO-ROUTINE threadFollower") ? plan.replacing("SCAN threadFollower", with: "") : plan
        #expect(plan.contains("SEARCH threadFollower") && !tables.contains("SCAN"), "\(plan)")
      }
      #expect(try !plan(RoomsQueries.badgeParts, 2).contains("TEMP B-TREE"))
      #expect(try !plan(RoomsQueries.pageParts[0], 3).contains("TEMP B-TREE"))
    }
  }

  @Test("a reply changes the rows of those who had read all before it, and of nobody else who follows")
  func writing() throws {
    var script = EventScript()
    script.create(room, by: alice)
    script.send(to: room, by: alice, firstID: 1_000_001)
    let followers = (100..<400 as Range<UInt64>).map { UserID.numbered($0) }
    for user in followers {
      script.room(room, .members(.added(user, role: .member)), by: alice)
      script.room(room, .threads(.followingSet(user, root(1).root, follows: true)), by: user)
    }
    let known = script.events.count
    reply(1, to: 1, by: alice, &script)
    reply(2, to: 1, by: alice, &script)
    script.room(
      room, .threads(.markerMoved(followers[0], to: .numbered(2_000_012), at: MessageLocation(thread: 1, ordinal: 2))),
      by: followers[0])
    reply(3, to: 1, by: alice, &script)

    let queue = try build(RoomsProjection.self, Array(script.events.prefix(known)))
    let changed = try (known..<script.events.count).map { index in
      try queue.write { (database) throws in
        let before = database.totalChangesCount
        var projection = RoomsProjection()
        try projection.apply(script.events[index...index], to: database)
        return database.totalChangesCount - before
      }
    }
    #expect(changed[0] > followers.count)
    // The thread, the sender's row, the room with its tracked members and the stream's version; the second time also
    // the reader's row.
    let limit = 10 + TrackedRoom.limit
    #expect(changed[1] < limit && changed[3] < limit && changed[3] > changed[1])
  }
}
