package import ChatPrimitives
import GRDB

/// Who has read up to where.
extension RoomsQueries {
  /// The members who have read something and let others see it, in the order in which they joined; the reader always.
  /// - Parameters:
  ///   - reader: who asks.
  ///   - cursor: `next` of the page before; nil for the first.
  package func receipts(
    of room: RoomID, for reader: UserID, after cursor: LogPosition? = nil, limit: Int
  ) throws -> ReceiptPage {
    let found = try CachedStatement(
      database,
      """
      SELECT userId, joinedPosition, markerMessageId, markerTime FROM member
      WHERE roomId = ? AND joinedPosition > ? AND markerMessageId IS NOT NULL
        AND (userId = ? OR NOT EXISTS (SELECT 1 FROM hiddenReader WHERE hiddenReader.userId = member.userId))
      ORDER BY joinedPosition LIMIT ?
      """
    ).all({
      $0.add(room)
      $0.add(cursor.map { Int64(clamping: $0.value) } ?? 0)
      $0.add(reader)
      $0.add(limit + 1)
    }) { row in
      let (user, joined) = try (row.id(UserID.self), row.position())
      return ReceiptRow(user: user, read: try ReadPoint(message: row.id(), time: row.time()), joined: joined)
    }
    let receipts = Array(found.prefix(limit))
    return ReceiptPage(
      receipts: receipts, nicknames: try nicknames(of: receipts.lazy.map(\.user)),
      next: found.count > limit ? receipts.last?.joined : nil)
  }

  /// Two columns, NULL together.
  static func readPoint(_ row: inout ColumnReader) throws -> ReadPoint? {
    if row.isNull {
      row.skip(2)
      return nil
    }
    return try ReadPoint(message: row.id(), time: row.time())
  }

  /// Two columns, NULL together.
  static func readUnreadMark(_ row: inout ColumnReader) throws -> UnreadMark? {
    if row.isNull {
      row.skip(2)
      return nil
    }
    return try UnreadMark(ordinal: row.unsigned(), message: row.id())
  }
}

/// Those who do not let others see how far they have read.
enum HiddenReaders {
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE hiddenReader (
          userId BLOB PRIMARY KEY NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func set(_ isHidden: Bool, _ user: UserID, _ database: Database) throws {
    let sql =
      isHidden
      ? "INSERT INTO hiddenReader (userId) VALUES (?) ON CONFLICT (userId) DO NOTHING"
      : "DELETE FROM hiddenReader WHERE userId = ?"
    try CachedStatement(database, sql).run { $0.add(user) }
  }
}
