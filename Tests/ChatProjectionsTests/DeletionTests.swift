import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Testing

@testable import ChatProjections

/// Deleted rooms and workspaces.
@Suite struct DeletionTests {
  private let alice: UserID = .numbered(1)
  private let bob: UserID = .numbered(2)
  private let room: RoomID = .numbered(9)

  /// A room of Alice and Bob with some of everything, which is deleted by the last event, and another room that stays.
  private func script(messages: Int = 20) -> EventScript {
    var script = EventScript()
    for id in [RoomID.numbered(8), room] {
      script.create(id, by: alice)
      script.room(id, .members(.added(bob, role: .member)), by: alice)
      script.room(id, .lifecycle(.edited(RoomEdit(name: "secret", topic: "secret", custom: "\"secret\""))), by: alice)
      script.room(
        id,
        .sharing(
          .inviteCreated(
            Invite(
              id: .numbered(30), tokenHash: id.uuid.bytes, role: .member, expiresAt: script.last.time, maximumUses: nil)
          )),
        by: alice)
      for number in 0..<UInt64(messages) {
        script.room(
          id, .messages(.sent(.numbered(100 + number), author: alice, thread: nil, .plain("secret \(number)"))),
          by: alice)
      }
      script.room(id, .messages(.deleted(.numbered(100), at: .room(1))), by: alice)
      script.room(id, .annotations(.pinned(.numbered(101), at: .room(2))), by: alice)
      script.room(id, .members(.silenced(bob, until: script.last.time.adding(milliseconds: 1_000_000))), by: alice)
      script.room(id, .members(.banned(bob)), by: alice)
    }
    script.room(room, .lifecycle(.deleted), by: alice)
    return script
  }

  @Test("all that remains of a deleted room in the read models is its ID")
  func leavesNothing() throws {
    let (whole, deletion) = (Array(script().events.dropLast()), script().events)
    for projection in [RoomsProjection.self, TimelineProjection.self, IDIndexProjection.self] as [any Projection.Type] {
      func rows(_ events: [RecordedEvent]) throws -> [String] {
        try dump(build(projection, events)).flatMap { table, rows in
          rows.filter { $0.contains(self.room.uuid.bytes.databaseValue) }.map { _ in table }
        }
      }
      #expect(try rows(whole).count > 5, "\(projection.name)")
      // The rows that show that the room existed, the version of its stream, and that the member and the former member
      // no longer have it stay.
      let left = try rows(deletion).sorted()
      #expect(
        left == (projection.name == "rooms" ? ["change", "change", "deletedRoom", "stream"] : []), "\(projection.name)")
      let texts = try dump(build(projection, deletion)).values.joined().joined()
      #expect(texts.filter { String.fromDatabaseValue($0)?.hasPrefix("secret") == true }.count <= 22)
    }
  }

  /// Tables with at most one row for a room or a workspace, which is deleted in the transaction of the deletion.
  private static let single: Set<String> = ["publicChannel", "picture", "roomCustom"]
  /// Tables whose rows stay when the room is deleted.
  private static let kept: Set<String> = ["reported"]

  @Test("every table with rows of a room or a workspace is cleared, except the one of deleted IDs")
  func clearsEveryTable() throws {
    for projection in Projections.all where !projection.bulkDeletedRows.isEmpty {
      let cleared = Set(projection.bulkDeletedRows.map(\.table))
      let owning = try build(projection, []).read { (database) throws in
        try String.fetchAll(
          database,
          sql: """
            SELECT DISTINCT entry.name FROM sqlite_schema AS entry, pragma_table_info(entry.name) AS part
            WHERE entry.type = 'table' AND (
              part.name IN ('roomId', 'owner') OR part.name = 'workspaceId' AND entry.name <> 'room'
              OR part.name = 'scope' AND entry.name = 'change')
            """)
      }
      #expect(
        owning.count >= cleared.count && cleared == Set(owning).subtracting(Self.single.union(Self.kept)),
        "\(projection.name)")
    }
  }

  @Test("nobody sees a deleted room while its rows are still there")
  func invisibleAtOnce() throws {
    let events = script().events
    func uncleared<P: Projection>(_ type: P.Type) throws -> DatabaseQueue {
      let queue = try build(type, Array(events.dropLast()))
      var projection = P()
      try queue.write { (database) throws in
        _ = try ProjectionBatch.apply(
          [events[events.count - 1]], after: LogPosition(UInt64(events.count - 1)), with: &projection, to: database)
      }
      return queue
    }
    try uncleared(RoomsProjection.self).read { (database) throws in
      let queries = RoomsQueries(database)
      #expect(
        try Int.fetchOne(
          database, sql: "SELECT COUNT(*) FROM ban WHERE roomId = ?", arguments: [room.uuid.bytes.databaseValue])
          == 1)
      #expect(try queries.member(alice, of: room) == nil && queries.room(room) == nil)
      #expect(try queries.roomList(of: alice, limit: 30).rooms.map(\.room.id) == [.numbered(8)])
      #expect(try queries.invite(hash: room.uuid.bytes) == nil)
      #expect(try queries.unreadCount(in: room, for: alice) == nil)
      #expect(try queries.administers(room, alice) == nil)
    }
    try uncleared(TimelineProjection.self).read { (database) throws in
      let queries = TimelineQueries(database)
      #expect(try !queries.isMember(alice, of: room))
      #expect(try queries.pins().map(\.key) == [.numbered(8)])
      #expect(try queries.page(of: room, for: alice, limit: 30) == nil)
      #expect(try queries.page(of: room, for: nil, limit: 30) == nil)
      #expect(try queries.message(2, of: room, for: nil) == nil)
      #expect(try queries.message(2, of: .numbered(8), for: nil) != nil)
    }
  }

  @Test(
    "a step takes out no more rows than it should, and what it leaves the next ones take", arguments: [1, 7, 20, 21])
  func bounded(rows: Int) throws {
    let queue = try DatabaseQueue()
    let place = BulkDeletion.RowSet(scope: .room, table: "thing", owner: "roomId", key: "a, b")
    try queue.write { (database) throws in
      try BulkDeletion.createTable(database)
      try database.execute(
        sql: "CREATE TABLE thing (roomId BLOB, a INTEGER, b INTEGER, PRIMARY KEY (roomId, a, b)) STRICT, WITHOUT ROWID")
      for id in [room, .numbered(8)] {
        for number in 0..<20 {
          try database.execute(
            sql: "INSERT INTO thing VALUES (?, ?, ?)", arguments: [id.uuid.bytes.databaseValue, number / 3, number])
        }
      }
      try BulkDeletion.note(room, .room, database)
      var (left, steps) = (40, 0)
      while try BulkDeletion.step([place], database, rows: rows) {
        let now = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM thing") ?? 0
        #expect(left - now <= rows)
        (left, steps) = (now, steps + 1)
      }
      #expect(left == 20 && steps == 20 / rows + 1)
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM clearing") == 0)
    }
  }

  @Test("a runner continues a bulk deletion after a crash")
  func survivesCrash() async throws {
    let folder = try TemporaryFolder()
    let events = script().events
    try await withModels(folder, MemoryFeed(events)) { _ in }
    let queue = try DatabaseQueue(path: folder.file(RoomsProjection.self).path)
    try await queue.write { [room] (database) throws in
      try database.execute(
        sql: "INSERT INTO ban VALUES (?, ?, 1, 1, NULL)",
        arguments: [room.uuid.bytes.databaseValue, UserID.numbered(5).uuid.bytes.databaseValue])
      try BulkDeletion.note(room, .room, database)
    }
    try queue.close()
    try await withModels(folder, MemoryFeed(events)) { (models) throws in
      try await models.rooms.wait(for: LogPosition(UInt64(events.count)))
    }
    let report = try ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(events), logIdentity: testLog
    ).verify(RoomsProjection.self)
    #expect(report.isEqual)
  }
}

extension [UInt8] {
  fileprivate var databaseValue: DatabaseValue { Data(self).databaseValue }
}
