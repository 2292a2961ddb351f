import GRDB

/// Stores the entries of the "never seen" filter: each full generation as a bitmap, the unfinished one as a list. When
/// the list reaches `KnownIDFilter.generationEntries`, it becomes a bitmap. Each row of the list has `entriesPerRow`
/// little-endian entries of 8 bytes; only the last may have fewer. All that depends only on the count, so the rows are the
/// same however the events were divided into batches.
struct FilterTail {
  /// The number of entries in a full row. With a row for each entry, every message would insert one.
  static let entriesPerRow = 256
  private static let entryBytes = MemoryLayout<UInt64>.size

  private var bitmap: KnownIDFilter.Generation
  /// The number of the unfinished generation, from 0.
  private var number: Int
  /// The number of entries in the unfinished generation.
  private var count: Int
  /// The bytes of the last row; empty if it is full.
  private var lastRow: [UInt8]

  static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE filterGeneration (
          number INTEGER PRIMARY KEY NOT NULL,
          bits BLOB NOT NULL
        ) STRICT;

        CREATE TABLE filterTail (
          number INTEGER PRIMARY KEY NOT NULL,
          hashes BLOB NOT NULL
        ) STRICT;
        """)
  }

  /// Restores the unfinished generation from the file.
  init(_ database: Database) throws {
    bitmap = KnownIDFilter.Generation()
    number = try database.rowCount(of: "filterGeneration")
    var entries: [UInt64] = []
    try Self.forEachEntry(database) { entries.append($0) }
    for entry in entries { bitmap.insert(entry) }
    count = entries.count
    lastRow = entries.suffix(count % Self.entriesPerRow).flatMap { entry in
      withUnsafeBytes(of: entry.littleEndian) { Array($0) }
    }
  }

  mutating func append(_ entries: some Sequence<UInt64>, _ database: Database) throws {
    var isRowChanged = false
    for entry in entries {
      withUnsafeBytes(of: entry.littleEndian) { lastRow.append(contentsOf: $0) }
      bitmap.insert(entry)
      count += 1
      isRowChanged = true
      if count == KnownIDFilter.generationEntries {
        try finishGeneration(database)
      } else if count.isMultiple(of: Self.entriesPerRow) {
        try writeLastRow(database)
        lastRow.removeAll(keepingCapacity: true)
      }
    }
    if isRowChanged, !lastRow.isEmpty { try writeLastRow(database) }
  }

  private func writeLastRow(_ database: Database) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO filterTail (number, hashes) VALUES (?, ?)
      ON CONFLICT (number) DO UPDATE SET hashes = excluded.hashes
      """
    ).run((count - 1) / Self.entriesPerRow, lastRow)
  }

  private mutating func finishGeneration(_ database: Database) throws {
    try CachedStatement(database, "INSERT INTO filterGeneration (number, bits) VALUES (?, ?)").run(number, bitmap.bytes)
    try CachedStatement(database, "DELETE FROM filterTail").run()
    bitmap = KnownIDFilter.Generation()
    number += 1
    count = 0
    lastRow.removeAll(keepingCapacity: true)
  }

  private static func forEachEntry(_ database: Database, _ body: (UInt64) -> Void) throws {
    var isComplete = true
    try CachedStatement(database, "SELECT hashes FROM filterTail ORDER BY number").forEach { row in
      try row.withBlob { hashes in
        let isWhole = hashes.count.isMultiple(of: entryBytes) && hashes.count <= entriesPerRow * entryBytes
        guard isWhole, isComplete else {
          throw ProjectionError(.damagedRow, "filterTail: a row has the wrong size; rebuild this projection")
        }
        isComplete = hashes.count == entriesPerRow * entryBytes
        for offset in stride(from: 0, to: hashes.count, by: entryBytes) {
          body(UInt64(littleEndian: hashes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
      }
    }
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
