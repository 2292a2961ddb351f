import ChatPrimitives
import GRDB

/// Sets of a room's ordinals: the messages that count for nobody, those that mention everyone, and those that mention one user. The
/// number of elements up to an ordinal is found in a number of steps that grows with the logarithm of the room's
/// history.
///
/// Level 0 has a bitmap for every 64 ordinals of which at least one is in the set. Level n ≥ 1 has the number of
/// elements for every 64ⁿ·64 ordinals. To count up to an ordinal, sum at most 63 whole buckets of each level, and add a
/// part of one bitmap. Empty buckets have no row.
enum OrdinalSet {
  /// How many buckets of one level belong to one bucket of the next; also the number of ordinals in a bitmap.
  static let fanout: UInt64 = 64
  /// The level with the widest buckets, 64⁵ ≈ 1.07·10⁹ ordinals each. A count sums any number of buckets of this level.
  static let topLevel = 4

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE ordinalSet (
          owner BLOB NOT NULL,
          level INTEGER NOT NULL,
          bucket INTEGER NOT NULL,
          value INTEGER NOT NULL,
          PRIMARY KEY (owner, level, bucket)
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// The number of ordinals that one bucket of a level covers.
  static func width(ofLevel level: Int) -> UInt64 {
    var width = fanout
    for _ in 0..<level { width *= fanout }
    return width
  }

  /// The bucket of a level that contains an ordinal.
  static func bucket(of ordinal: UInt64, level: Int) -> UInt64 { ordinal / width(ofLevel: level) }

  /// The ordinal's bit in its bitmap.
  static func bit(of ordinal: UInt64) -> UInt64 { 1 << (ordinal % fanout) }

  /// The elements among the 64 ordinals of a bucket of level 0.
  static func bitmap(_ bucket: UInt64, of owner: OrdinalOwner, _ database: Database) throws -> UInt64 {
    try CachedStatement(database, "SELECT value FROM ordinalSet WHERE owner = ? AND level = 0 AND bucket = ?")
      .first(owner.bytes, bucket) { try $0.bits() } ?? 0
  }

  /// The number of elements up to and including `ordinal`.
  static func count(through ordinal: UInt64, of owner: OrdinalOwner, _ database: Database) throws -> UInt64 {
    let end = ordinal + 1
    var count: UInt64 = 0
    var start: UInt64 = 0
    for level in stride(from: topLevel, to: 0, by: -1) {
      let stop = end / width(ofLevel: level)
      if stop > start { count += try sum(level: level, start..<stop, of: owner, database) }
      start = stop * fanout
    }
    return count + (try bits(from: start, before: end, of: owner, database))
  }

  /// The number of elements after `ordinal`. An empty set costs one query.
  static func count(after ordinal: UInt64, of owner: OrdinalOwner, _ database: Database) throws -> UInt64 {
    let all =
      try CachedStatement(
        database, "SELECT COALESCE(SUM(value), 0) FROM ordinalSet WHERE owner = ? AND level = ?"
      ).first(owner.bytes, topLevel) { try $0.unsigned() } ?? 0
    guard all > 0 else { return 0 }
    let through = try count(through: ordinal, of: owner, database)
    return all - min(all, through)
  }

  private static func sum(
    level: Int, _ buckets: Range<UInt64>, of owner: OrdinalOwner, _ database: Database
  ) throws -> UInt64 {
    try CachedStatement(
      database,
      "SELECT COALESCE(SUM(value), 0) FROM ordinalSet WHERE owner = ? AND level = ? AND bucket >= ? AND bucket < ?"
    ).first(owner.bytes, level, buckets.lowerBound, buckets.upperBound) { try $0.unsigned() } ?? 0
  }

  /// - Parameter start: a bucket of level 0, less than 64 buckets before the one with the ordinal `end`.
  private static func bits(
    from start: UInt64, before end: UInt64, of owner: OrdinalOwner, _ database: Database
  ) throws -> UInt64 {
    var count: UInt64 = 0
    let last = end / fanout
    let mask = bit(of: end) - 1
    try CachedStatement(
      database,
      "SELECT bucket, value FROM ordinalSet WHERE owner = ? AND level = 0 AND bucket >= ? AND bucket <= ?"
    ).forEach(owner.bytes, start, last) { row in
      let bucket = try row.unsigned()
      let bits = try row.bits()
      count += UInt64((bucket == last ? bits & mask : bits).nonzeroBitCount)
    }
    return count
  }
}

/// The room, or the thread in it, that a set belongs to. The bytes begin with the room, so that all sets of a room are
/// adjacent.
struct OrdinalOwner: Hashable {
  private enum Kind: UInt8 {
    case deletions = 1
    case everyone = 2
    case user = 3
    case leftOut = 4
    case unmentioned = 5
  }

  let bytes: [UInt8]

  private init(_ kind: Kind, _ room: RoomID, _ thread: UInt64, _ user: UserID? = nil) {
    bytes =
      room.uuid.bytes + [kind.rawValue] + withUnsafeBytes(of: thread.bigEndian) { Array($0) }
      + (user?.uuid.bytes ?? [])
  }

  /// The messages that count for nobody: deleted messages, and silent ones.
  /// - Parameter thread: the ordinal of the thread's root; zero for the room's own timeline. Also applies to the
  ///   functions below.
  static func deletions(in room: RoomID, thread: UInt64 = 0) -> OrdinalOwner { OrdinalOwner(.deletions, room, thread) }

  /// The messages that mention everyone.
  static func everyone(in room: RoomID, thread: UInt64 = 0) -> OrdinalOwner { OrdinalOwner(.everyone, room, thread) }

  /// The messages that mention the user but not everyone.
  static func mentions(of user: UserID, in room: RoomID, thread: UInt64 = 0) -> OrdinalOwner {
    OrdinalOwner(.user, room, thread, user)
  }

  /// The messages that do not count for the user, because the user blocked the sender when they were sent. Messages
  /// that count for nobody are not in it.
  static func leftOut(for user: UserID, in room: RoomID, thread: UInt64 = 0) -> OrdinalOwner {
    OrdinalOwner(.leftOut, room, thread, user)
  }

  /// The messages that mention everyone but do not count as a mention of this user, because the user blocked the sender
  /// when the message was sent or the mention was added.
  static func unmentioned(_ user: UserID, in room: RoomID, thread: UInt64 = 0) -> OrdinalOwner {
    OrdinalOwner(.unmentioned, room, thread, user)
  }
}

/// The changes to one set during a batch, collected so that each bucket is written once.
struct BufferedOrdinalSet {
  private let owner: OrdinalOwner
  private var bitmaps: [UInt64: UInt64] = [:]
  /// The changes to the buckets of levels 1 and up.
  private var counts: [[UInt64: Int64]] = Array(repeating: [:], count: OrdinalSet.topLevel)

  init(_ owner: OrdinalOwner) {
    self.owner = owner
  }

  func contains(_ ordinal: UInt64, _ database: Database) throws -> Bool {
    let bucket = OrdinalSet.bucket(of: ordinal, level: 0)
    return try (bitmaps[bucket] ?? stored(bucket, database)) & OrdinalSet.bit(of: ordinal) != 0
  }

  /// - Returns: false if the ordinal was already in the set.
  mutating func insert(_ ordinal: UInt64, _ database: Database) throws -> Bool {
    guard try !contains(ordinal, database) else { return false }
    try flip(ordinal, by: 1, database)
    return true
  }

  /// - Returns: false if the ordinal was not in the set.
  @discardableResult
  mutating func remove(_ ordinal: UInt64, _ database: Database) throws -> Bool {
    guard try contains(ordinal, database) else { return false }
    try flip(ordinal, by: -1, database)
    return true
  }

  private mutating func flip(_ ordinal: UInt64, by step: Int64, _ database: Database) throws {
    let bucket = OrdinalSet.bucket(of: ordinal, level: 0)
    bitmaps[bucket] = try (bitmaps[bucket] ?? stored(bucket, database)) ^ OrdinalSet.bit(of: ordinal)
    for level in 1...OrdinalSet.topLevel {
      counts[level - 1][OrdinalSet.bucket(of: ordinal, level: level), default: 0] += step
    }
  }

  private func stored(_ bucket: UInt64, _ database: Database) throws -> UInt64 {
    try OrdinalSet.bitmap(bucket, of: owner, database)
  }

  /// Deletes the row of a bucket that has become empty, so that the rows do not depend on how events were divided into
  /// batches.
  func write(_ database: Database) throws {
    let set = try CachedStatement(
      database,
      """
      INSERT INTO ordinalSet (owner, level, bucket, value) VALUES (?, 0, ?, ?)
      ON CONFLICT (owner, level, bucket) DO UPDATE SET value = excluded.value
      """)
    for (bucket, bits) in bitmaps {
      if bits == 0 {
        try removeRow(level: 0, bucket, onlyIfZero: false, database)
      } else {
        try set.run(owner.bytes, bucket, Int64(bitPattern: bits))
      }
    }
    let add = try CachedStatement(
      database,
      """
      INSERT INTO ordinalSet (owner, level, bucket, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (owner, level, bucket) DO UPDATE SET value = value + excluded.value
      """)
    for level in 1...OrdinalSet.topLevel {
      for (bucket, count) in counts[level - 1] where count != 0 {
        try add.run(owner.bytes, level, bucket, count)
        if count < 0 { try removeRow(level: level, bucket, onlyIfZero: true, database) }
      }
    }
  }

  private func removeRow(level: Int, _ bucket: UInt64, onlyIfZero: Bool, _ database: Database) throws {
    try CachedStatement(
      database,
      "DELETE FROM ordinalSet WHERE owner = ? AND level = ? AND bucket = ?" + (onlyIfZero ? " AND value = 0" : "")
    ).run(owner.bytes, level, bucket)
  }
}
