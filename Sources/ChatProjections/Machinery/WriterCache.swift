import GRDB

/// Sets the page cache of a projection's writer. The cache is large while many events are waiting, because one
/// transaction then changes many pages. Otherwise it is small, so that an idle server does not keep the memory that one
/// burst needed.
struct WriterCache {
  /// Nil before the first transaction, because after a fault the connection may still have the earlier size.
  private var isLarge: Bool?

  mutating func fit(isBehind: Bool, _ database: Database) throws {
    guard isBehind != isLarge else { return }
    isLarge = isBehind
    let size = isBehind ? ProjectionFile.busyWriterCacheKiB : ProjectionFile.writerCacheKiB
    try database.execute(sql: "PRAGMA cache_size = -\(size)")
    if !isBehind { try database.execute(sql: "PRAGMA shrink_memory") }
  }
}
