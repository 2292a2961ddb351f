import GRDB

/// Removes deleted content from the file. First it erases the messages of deleted rooms, in steps. Then it rebuilds
/// each shard that still contains words of erased texts. Last it truncates the write-ahead log, which contains earlier
/// versions of the pages.
///
/// It rebuilds one shard at a time. While no events are waiting, it does so without delays. While events keep arriving,
/// it pauses between two shards, so that it delays following the log only for a small part of the time.
struct SearchUpkeepPace {
  /// The pause between two shards while events keep arriving.
  private static let busyPause: Duration = .seconds(2)

  private var lastShard: ContinuousClock.Instant?
  /// False at first, because the log of a file that was just opened may still contain erased content.
  private var isLogClean = false

  /// Call this outside a transaction.
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
