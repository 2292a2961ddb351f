import CSQLite

/// How SQLite allocates memory.
enum SQLiteMemory {
  /// Stops SQLite from counting the memory that it allocates. Nothing reads these counts, and all connections of the
  /// process share one lock for them, which each allocation takes. Without effect if the process has used SQLite before.
  static func stopCounting() { _ = csqlite_disable_memory_statistics() }
}
