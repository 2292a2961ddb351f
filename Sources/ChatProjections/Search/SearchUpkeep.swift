import GRDB

/// Takes out of the file what was deleted: first the rows of rooms that were deleted, a portion at a time; then it makes
/// each shard that holds words of what is gone anew; and then it empties the write-ahead log, in which pages of before stand.
///
/// It goes one shard at a time. While no event waits, one step follows the other; while events keep coming, a pause lies
/// between two shards, so that following the log is never held up for more than a small part of the time.
struct SearchUpkeepPace {
  /// Between two shards while events keep coming.
  private static let busyPause: Duration = .seconds(2)

  private var lastShard: ContinuousClock.Instant?
  /// Not known of a file that was just opened: its log may still hold what was erased earlier.
  private var isLogClean = false

  /// Called outside a transaction.
  mutating func step(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome {
    if try SearchBulkDeletion.isOwed(database) {
      isLogClean = false
      try database.inTransaction {
        try SearchBulkDeletion.step(database)
        return .commit
      }
      return .more
    }
    if !isIdle, let lastShard, lastShard.duration(to: .now) < Self.busyPause { return .blocked }
    if let shard = try Self.next(database) {
      isLogClean = false
      try database.inTransaction {
        try shard.rewrite(database)
        try CachedStatement(database, "DELETE FROM erasure WHERE shard = ?").run(shard.number)
        return .commit
      }
      lastShard = .now
      return .more
    }
    if isLogClean { return .done }
    guard try WALTruncation.empty(database) else {
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
}
