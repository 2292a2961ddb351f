import ChatPrimitives
import Dispatch
import GRDB
import GRDBSQLite
import Glibc
import Synchronization

/// Writes the write-ahead log of a read model into its file, on a connection of its own. A thread with low priority makes the
/// passes; `CheckpointPlan` decides when. Another one syncs the write-ahead log whenever it has grown by about
/// `SyncSteps.bytes`, so that no sync takes long.
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
  /// The path of the write-ahead log.
  private let log: String
  private let threadName: String
  /// Entered while a thread makes passes or syncs the write-ahead log.
  private let passes = DispatchGroup()
  private let state = Mutex(State())

  private struct State {
    var plan = CheckpointPlan()
    var counts = Counts()
    /// The pages of the write-ahead log after the last transaction.
    var pages = 0
    var syncSteps = SyncSteps()
    var isSyncing = false

    /// - Returns: whether the write-ahead log is to be synced.
    mutating func grew(to pages: Int) -> Bool {
      // If SQLite has restarted it, it is shorter than before.
      let new = pages < self.pages ? pages : pages - self.pages
      self.pages = pages
      guard syncSteps.wrote(new * ProjectionFile.pageBytes), !isSyncing else { return false }
      isSyncing = true
      return true
    }
  }

  /// Replaces the automatic checkpoints of the pool's writer, until `close`.
  /// - Parameters:
  ///   - connection: another connection to the same file.
  ///   - log: the path of the write-ahead log.
  init(_ pool: DatabasePool, _ connection: DatabaseQueue, log: String, name: String) throws {
    self.pool = pool
    self.connection = connection
    self.log = log
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

  /// Waits for the passes and the syncs that have begun.
  func waitForPasses() { passes.wait() }

  var counts: Counts { state.withLock { $0.counts } }

  /// Called on the writer's thread after each transaction.
  private func committed(_ pages: Int, _ writer: OpaquePointer?) {
    let (step, syncsLog) = state.withLock { state in
      let step = state.plan.committed(pages: pages)
      if step == .finish { state.counts.byWriter += 1 }
      return (step, state.grew(to: pages))
    }
    if syncsLog { start { $0.syncLog() } }
    switch step {
    case .none: break
    case .begin: start { $0.copy() }
    case .finish: sqlite3_wal_checkpoint_v2(writer, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
  }

  private func start(_ work: @escaping @Sendable (BackgroundCheckpoints) -> Void) {
    // Entered here, so that `waitForPasses` cannot miss the thread.
    passes.enter()
    LowPriorityThread.start(threadName) { [self] in
      work(self)
      passes.leave()
    }
  }

  /// Errors are ignored: the next checkpoint syncs again and sees them too, because Linux reports a write error once to each
  /// open file (fsync(2)).
  private func syncLog() {
    defer { state.withLock { $0.isSyncing = false } }
    // SQLite locks no bytes of this file, so closing it releases no lock (fcntl(2)).
    let descriptor = open(log, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fdatasync(descriptor)
    Glibc.close(descriptor)
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
