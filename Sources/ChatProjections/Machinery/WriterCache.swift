import GRDB

/// How many pages the writing connection of a projection keeps in memory: many while it is behind, for one transaction
/// then changes many; few otherwise, so that a server at rest does not hold what one burst needed.
struct WriterCache {
  /// Nil before the first transaction: after a fault the connection may still have the size from before.
  private var isLarge: Bool?

  mutating func fit(isBehind: Bool, _ database: Database) throws {
    guard isBehind != isLarge else { return }
    isLarge = isBehind
    let size = isBehind ? ProjectionFile.busyWriterCacheKiB : ProjectionFile.writerCacheKiB
    try database.execute(sql: "PRAGMA cache_size = -\(size)")
    if !isBehind { try database.execute(sql: "PRAGMA shrink_memory") }
  }
}
