import GRDB
import GRDBSQLite

/// Takes out of the file what was deleted from the rows: makes each shard that holds words of it anew, and then empties the
/// write-ahead log, in which pages of before stand.
///
/// It goes one shard at a time. While no event waits, one step follows the other; while events keep coming, a pause lies
/// between two shards, so that following the log is never held up for more than a small part of the time.
struct SearchUpkeepPace {
  /// Between two shards while events keep coming.
  private static let busyPause: Duration = .seconds(2)
  /// How long the write-ahead log's emptying waits for readers, in milliseconds.
  private static let readerWaitMilliseconds: Int32 = 100

  private var lastShard: ContinuousClock.Instant?
  /// Not known of a file that was just opened: what was erased then may stand in its log.
  private var isLogClean = false

  /// Called outside a transaction.
  mutating func step(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome {
    if !isIdle, let lastShard, lastShard.duration(to: .now) < Self.busyPause { return .blocked }
    if let shard = try Self.next(database) {
      isLogClean = false
      try database.inTransaction {
        try shard.rewrite(database)
        try CachedStatement(database, "DELETE FROM erasure WHERE shard = ?").run { $0.add(shard.number) }
        return .commit
      }
      lastShard = .now
      return .more
    }
    if isLogClean { return .done }
    guard try Self.emptyLog(database) else {
      lastShard = .now
      return .blocked
    }
    isLogClean = true
    return .done
  }

  private static func next(_ database: Database) throws -> SearchShard? {
    try CachedStatement(database, "SELECT shard FROM erasure ORDER BY shard LIMIT 1").first {
      SearchShard(number: try $0.unsigned())
    }
  }

  /// - Returns: false when a reader was in the way.
  private static func emptyLog(_ database: Database) throws -> Bool {
    guard let connection = database.sqliteConnection else { return false }
    sqlite3_busy_timeout(connection, readerWaitMilliseconds)
    defer { sqlite3_busy_timeout(connection, ProjectionFile.busyMilliseconds) }
    let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the write-ahead log could not be emptied")
    }
    return code == SQLITE_OK
  }
}
