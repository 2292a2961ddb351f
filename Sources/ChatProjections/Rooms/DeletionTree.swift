import ChatPrimitives
import GRDB

/// How many of a room's messages up to an ordinal are deleted, in a number of steps that grows with the logarithm of
/// the room's history.
///
/// Level 0 holds, for every 64 ordinals with a deletion among them, a bitmap of which. Level n ≥ 1 holds, for every
/// 64ⁿ·64 ordinals, how many are deleted. A count up to an ordinal takes at most 63 whole buckets of each level and a
/// part of one bitmap; buckets without a deletion have no row.
enum DeletionTree {
  /// Buckets of one level under one of the level above; also the ordinals of one bitmap.
  static let fanout: UInt64 = 64
  /// The level of the widest buckets, 64⁵ ≈ 1.07·10⁹ ordinals each. Beyond that, their number grows by one each.
  static let topLevel = 4

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE deletion (
          roomId BLOB NOT NULL,
          level INTEGER NOT NULL,
          bucket INTEGER NOT NULL,
          value INTEGER NOT NULL,
          PRIMARY KEY (roomId, level, bucket)
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// How many ordinals one bucket of a level covers.
  static func width(ofLevel level: Int) -> UInt64 {
    var width = fanout
    for _ in 0..<level { width *= fanout }
    return width
  }

  /// The bucket of a level that an ordinal falls into.
  static func bucket(of ordinal: UInt64, level: Int) -> UInt64 { ordinal / width(ofLevel: level) }

  /// The ordinal's bit in its bitmap.
  static func bit(of ordinal: UInt64) -> UInt64 { 1 << (ordinal % fanout) }

  /// How many messages with an ordinal up to `ordinal`, itself included, are deleted.
  static func deleted(through ordinal: UInt64, in room: RoomID, _ database: Database) throws -> UInt64 {
    let end = ordinal + 1
    var count: UInt64 = 0
    var start: UInt64 = 0
    for level in stride(from: topLevel, to: 0, by: -1) {
      let stop = end / width(ofLevel: level)
      if stop > start { count += try sum(level: level, start..<stop, in: room, database) }
      start = stop * fanout
    }
    return count + (try bits(from: start, before: end, in: room, database))
  }

  private static func sum(
    level: Int, _ buckets: Range<UInt64>, in room: RoomID, _ database: Database
  ) throws -> UInt64 {
    try CachedStatement(
      database,
      "SELECT COALESCE(SUM(value), 0) FROM deletion WHERE roomId = ? AND level = ? AND bucket >= ? AND bucket < ?"
    ).first(
      {
        $0.add(room)
        $0.add(level)
        $0.add(buckets.lowerBound)
        $0.add(buckets.upperBound)
      }, { try $0.unsigned() }) ?? 0
  }

  /// - Parameter start: a bucket of level 0; `end` lies less than 64 buckets after it.
  private static func bits(
    from start: UInt64, before end: UInt64, in room: RoomID, _ database: Database
  ) throws -> UInt64 {
    var count: UInt64 = 0
    let last = end / fanout
    let mask = bit(of: end) - 1
    try CachedStatement(
      database,
      "SELECT bucket, value FROM deletion WHERE roomId = ? AND level = 0 AND bucket >= ? AND bucket <= ?"
    ).forEach({
      $0.add(room)
      $0.add(start)
      $0.add(last)
    }) { row in
      let bucket = try row.unsigned()
      let bits = try row.bits()
      count += UInt64((bucket == last ? bits & mask : bits).nonzeroBitCount)
    }
    return count
  }
}

/// One room's deletions of a batch, gathered so that each bucket is written once.
struct DeletionDraft {
  private var bitmaps: [UInt64: UInt64] = [:]
  /// What is added to each bucket of the levels from 1 up.
  private var counts: [[UInt64: UInt64]] = Array(repeating: [:], count: DeletionTree.topLevel)

  /// - Returns: false when the message was deleted before.
  mutating func delete(_ ordinal: UInt64, in room: RoomID, _ database: Database) throws -> Bool {
    let bucket = DeletionTree.bucket(of: ordinal, level: 0)
    var bits = try bitmaps[bucket] ?? stored(bucket, in: room, database)
    let bit = DeletionTree.bit(of: ordinal)
    guard bits & bit == 0 else { return false }
    bits |= bit
    bitmaps[bucket] = bits
    for level in 1...DeletionTree.topLevel {
      counts[level - 1][DeletionTree.bucket(of: ordinal, level: level), default: 0] += 1
    }
    return true
  }

  private func stored(_ bucket: UInt64, in room: RoomID, _ database: Database) throws -> UInt64 {
    try CachedStatement(database, "SELECT value FROM deletion WHERE roomId = ? AND level = 0 AND bucket = ?").first(
      {
        $0.add(room)
        $0.add(bucket)
      }, { try $0.bits() }) ?? 0
  }

  func write(_ room: RoomID, _ database: Database) throws {
    guard !bitmaps.isEmpty else { return }
    let set = try CachedStatement(
      database,
      """
      INSERT INTO deletion (roomId, level, bucket, value) VALUES (?, 0, ?, ?)
      ON CONFLICT (roomId, level, bucket) DO UPDATE SET value = excluded.value
      """)
    for (bucket, bits) in bitmaps {
      try set.run {
        $0.add(room)
        $0.add(bucket)
        $0.add(bits: bits)
      }
    }
    let add = try CachedStatement(
      database,
      """
      INSERT INTO deletion (roomId, level, bucket, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (roomId, level, bucket) DO UPDATE SET value = value + excluded.value
      """)
    for level in 1...DeletionTree.topLevel {
      for (bucket, count) in counts[level - 1] {
        try add.run {
          $0.add(room)
          $0.add(level)
          $0.add(bucket)
          $0.add(count)
        }
      }
    }
  }
}
