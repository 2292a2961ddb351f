import GRDB

/// Stores the entries of the "never seen" filter: each full generation as a bitmap, the unfinished one as a list. When
/// the list reaches `KnownIDFilter.generationEntries`, it becomes a bitmap. That depends only on the count, so the rows
/// are the same however the events were divided into batches.
struct FilterTail {
  private var bitmap: KnownIDFilter.Generation
  /// The number of the unfinished generation, from 0.
  private var number: Int
  /// The number of entries in the unfinished generation.
  private var count: Int

  static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE filterGeneration (
          number INTEGER PRIMARY KEY NOT NULL,
          bits BLOB NOT NULL
        ) STRICT;

        CREATE TABLE filterTail (
          sequence INTEGER PRIMARY KEY NOT NULL,
          hash INTEGER NOT NULL
        ) STRICT;
        """)
  }

  /// Restores the unfinished generation from the file.
  init(_ database: Database) throws {
    bitmap = KnownIDFilter.Generation()
    number =
      try CachedStatement(database, "SELECT COUNT(*) FROM filterGeneration").first { try $0.narrow(Int.self) } ?? 0
    var entries: [UInt64] = []
    try Self.forEachEntry(database) { entries.append($0) }
    for entry in entries { bitmap.insert(entry) }
    count = entries.count
  }

  mutating func append(_ entries: some Sequence<UInt64>, _ database: Database) throws {
    let insert = try CachedStatement(database, "INSERT INTO filterTail (sequence, hash) VALUES (?, ?)")
    for entry in entries {
      try insert.run(count, Int64(bitPattern: entry))
      bitmap.insert(entry)
      count += 1
      if count == KnownIDFilter.generationEntries { try finishGeneration(database) }
    }
  }

  private mutating func finishGeneration(_ database: Database) throws {
    try CachedStatement(database, "INSERT INTO filterGeneration (number, bits) VALUES (?, ?)").run(number, bitmap.bytes)
    try CachedStatement(database, "DELETE FROM filterTail").run()
    bitmap = KnownIDFilter.Generation()
    number += 1
    count = 0
  }

  private static func forEachEntry(_ database: Database, _ body: (UInt64) -> Void) throws {
    try CachedStatement(database, "SELECT hash FROM filterTail ORDER BY sequence").forEach { body(try $0.bits()) }
  }

  /// Reads the whole filter from the file.
  static func restore(_ database: Database) throws -> KnownIDFilter {
    let full = try CachedStatement(database, "SELECT bits FROM filterGeneration ORDER BY number").all { row in
      try row.withBlob { KnownIDFilter.Generation(bytes: $0) }
    }
    var tail: [UInt64] = []
    try forEachEntry(database) { tail.append($0) }
    return KnownIDFilter(
      full: try full.map { generation in
        guard let generation else {
          throw ProjectionError(.damagedRow, "filterGeneration: a bitmap has the wrong size; rebuild this projection")
        }
        return generation
      }, tail: tail)
  }
}
