import ChatPrimitives
import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Writes the write-ahead log of a read model into its file, on a connection of its own and a thread with low priority, which
/// runs only during the passes. `CheckpointPlan` decides when.
///
/// Errors are ignored, as SQLite does with its automatic checkpoints: the log stays complete, and the next checkpoint
/// tries again.
final class BackgroundCheckpoints: Sendable {
  /// How many passes were made.
  struct Counts: Sendable, Hashable {
    var beside = 0
    var byWriter = 0
    /// How many of the passes beside the writer could not copy the whole log.
    var incomplete = 0
  }

  private let pool: DatabasePool
  private let connection: DatabaseQueue
  private let threadName: String
  /// Entered while a thread makes passes.
  private let passes = DispatchGroup()
  private let state = Mutex((plan: CheckpointPlan(), counts: Counts()))

  /// Replaces the automatic checkpoints of the pool's writer, until `close`.
  /// - Parameter connection: another connection to the same file.
  init(_ pool: DatabasePool, _ connection: DatabaseQueue, name: String) throws {
    self.pool = pool
    self.connection = connection
    threadName = "wal-\(name)"
    try pool.writeWithoutTransaction { database in
      // The hook retains this object, and `close` releases it.
      let context = Unmanaged.passRetained(self).toOpaque()
      sqlite3_wal_hook(
        database.sqliteConnection,
        { context, connection, _, pages in
          guard let context else { return SQLITE_OK }
          Unmanaged<BackgroundCheckpoints>.fromOpaque(context).takeUnretainedValue().committed(Int(pages), connection)
          return SQLITE_OK
        }, context)
    }
  }

  /// Waits for a pass in flight, and closes the connection. Call it once, before the pool is closed.
  func close() {
    try? pool.writeWithoutTransaction { database in
      guard let context = sqlite3_wal_hook(database.sqliteConnection, nil, nil) else { return }
      Unmanaged<BackgroundCheckpoints>.fromOpaque(context).release()
    }
    waitForPasses()
    try? connection.close()
  }

  /// Waits for the passes that have begun.
  func waitForPasses() { passes.wait() }

  var counts: Counts { state.withLock { $0.counts } }

  /// Called on the writer's thread after each transaction.
  private func committed(_ pages: Int, _ writer: OpaquePointer?) {
    let step = state.withLock { state in
      let step = state.plan.committed(pages: pages)
      if step == .finish { state.counts.byWriter += 1 }
      return step
    }
    switch step {
    case .none: break
    case .begin:
      // Entered here, so that `waitForPasses` cannot miss the thread.
      passes.enter()
      LowPriorityThread.start(threadName) { [self] in
        copy()
        passes.leave()
      }
    case .finish: sqlite3_wal_checkpoint_v2(writer, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
  }

  private func copy() {
    var goesOn = true
    while goesOn {
      let found = try? connection.writeWithoutTransaction { try $0.checkpoint(.passive) }
      let pass = found.map { CheckpointPlan.Pass(log: $0.walFrameCount, copied: $0.checkpointedFrameCount) }
      goesOn = state.withLock { state in
        state.counts.beside += 1
        if pass.map({ $0.copied < $0.log }) ?? true { state.counts.incomplete += 1 }
        return state.plan.passed(pass)
      }
    }
  }
}
