import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Writes the write-ahead log of a read model into its file, on a thread and a connection of its own. `CheckpointPlan` decides
/// when.
///
/// Errors are ignored, as SQLite does with its automatic checkpoints: the log stays complete, and the next one tries again.
final class BackgroundCheckpoints: Sendable {
  private let pool: DatabasePool
  private let connection: DatabaseQueue
  private let queue: DispatchQueue
  private let plan = Mutex(CheckpointPlan())

  /// Replaces the automatic checkpoints of the pool's writer. The owner keeps this object until it has called `close`.
  /// - Parameter connection: another connection to the same file.
  init(_ pool: DatabasePool, _ connection: DatabaseQueue, name: String) throws {
    self.pool = pool
    self.connection = connection
    queue = DispatchQueue(label: "checkpoint-\(name)")
    try pool.writeWithoutTransaction { database in
      // `close` removes the hook before this object can be released.
      let context = Unmanaged.passUnretained(self).toOpaque()
      sqlite3_wal_hook(
        database.sqliteConnection,
        { context, connection, _, pages in
          guard let context else { return SQLITE_OK }
          Unmanaged<BackgroundCheckpoints>.fromOpaque(context).takeUnretainedValue().committed(Int(pages), connection)
          return SQLITE_OK
        }, context)
    }
  }

  /// Waits for a checkpoint in flight, and closes the connection. Call it before the pool is closed.
  func close() {
    try? pool.writeWithoutTransaction { database in _ = sqlite3_wal_hook(database.sqliteConnection, nil, nil) }
    queue.sync {}
    try? connection.close()
  }

  /// Called on the writer's thread after each transaction.
  private func committed(_ pages: Int, _ writer: OpaquePointer?) {
    switch plan.withLock({ $0.committed(pages: pages) }) {
    case .none: break
    case .begin: queue.async { self.copy() }
    case .finish: sqlite3_wal_checkpoint_v2(writer, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
  }

  private func copy() {
    repeat {
      try? connection.writeWithoutTransaction { database in _ = try database.checkpoint(.passive) }
    } while plan.withLock { $0.passed() }
  }
}
