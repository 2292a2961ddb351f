import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import GRDB
import GRDBSQLite
import Logging
import Testing

@testable import ChatProjections

let testLog = UUIDBytes(high: 0xabcd, low: 0x1234)
let testLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A folder that is removed when the value is released.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "chat-projections-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var readModels: String { path + "/views" }

  func file(_ projection: any Projection.Type) -> ProjectionFile { ProjectionFile(projection, in: readModels) }
}

/// Builds a projection in memory from events in batches of one size.
func build<P: Projection>(_ type: P.Type, _ events: [RecordedEvent], batch: Int = 4096) throws -> DatabaseQueue {
  let queue = try DatabaseQueue()
  try queue.write { (database) throws in
    try type.prepare(database)
    try ProjectionOpening.createSchema(of: type, logIdentity: testLog, database)
    try type.createIndexes(database)
  }
  try apply(type, events, from: 0, batch: batch, to: queue)
  return queue
}

/// Applies the events from an index on, each batch in its own transaction.
func apply<P: Projection>(
  _ type: P.Type, _ events: [RecordedEvent], from start: Int, batch: Int = 4096, to queue: DatabaseQueue
) throws {
  var projection = P()
  var index = start
  while index < events.count {
    let end = min(events.count, index + batch)
    try queue.write { (database) throws in
      _ = try ProjectionBatch.apply(
        Array(events[index..<end]), after: LogPosition(UInt64(index)), with: &projection, to: database)
      while try BulkDeletion.step(P.bulkDeletedRows, database) {}
    }
    index = end
  }
}

/// All rows of the tables that can be compared, ordered by all columns or as the projection's own query orders them.
func dump(
  _ reader: some DatabaseReader, _ projection: any Projection.Type = TimelineProjection.self
) throws -> [String: [[DatabaseValue]]] {
  try reader.read { try dump($0, projection) }
}

func dump(
  _ database: Database, _ projection: any Projection.Type = TimelineProjection.self
) throws -> [String: [[DatabaseValue]]] {
  let names = try String.fetchAll(
    database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
  var tables: [String: [[DatabaseValue]]] = [:]
  for name in names {
    let rows: [Row]
    switch projection.comparison(of: name) {
    case .rows, .except, .exceptCleared:
      let columns = try database.columns(in: name).map(\.name).joined(separator: ", ")
      rows = try Row.fetchAll(database, sql: "SELECT * FROM \(name) ORDER BY \(columns)")
    case .selected(let query, _): rows = try Row.fetchAll(database, sql: query)
    case .none: continue
    }
    tables[name] = rows.map { Array($0.databaseValues) }
  }
  return tables
}

/// How long a test waits for what must happen: much longer than it takes while all other tests run, so that only a defect
/// fails it.
let patienceMilliseconds = 300_000

extension ProjectionRunner {
  /// Waits with the patience of a test instead of the default, which is for requests.
  func wait(for position: LogPosition) async throws(ProjectionBehind) {
    try await wait(for: position, timeoutMilliseconds: patienceMilliseconds)
  }
}

/// Runs `body` with the read models over a feed, applied up to its head.
func withModels<T: Sendable>(
  _ folder: TemporaryFolder, _ feed: MemoryFeed, _ body: (ReadModels) async throws -> T
) async throws -> T {
  let models = try ReadModels.open(directory: folder.readModels, feed: feed, logIdentity: testLog, logger: testLogger)
  models.start()
  let result: Result<T, any Error>
  do {
    try await models.waitForAll(feed.head, timeoutMilliseconds: patienceMilliseconds)
    result = .success(try await body(models))
  } catch {
    result = .failure(error)
  }
  feed.close()
  try models.close()
  return try result.get()
}

/// The number of steps of SQLite's virtual machine that `body` takes, in all statements together.
func steps(_ database: Database, _ body: () throws -> Void) throws -> Int {
  func taken() -> Int {
    var (sum, statement) = (0, sqlite3_next_stmt(database.sqliteConnection, nil))
    while let current = statement {
      sum += Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 1))
      statement = sqlite3_next_stmt(database.sqliteConnection, current)
    }
    return sum
  }
  _ = taken()
  try body()
  return taken()
}
