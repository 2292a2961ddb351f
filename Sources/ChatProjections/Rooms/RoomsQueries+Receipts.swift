package import ChatPrimitives
import GRDB

/// Who has read up to which message.
extension RoomsQueries {
  /// How many members are examined for one page of receipts. If few of them have read anything, the page is short, and
  /// the next page continues after them.
  static let receiptMembers = 2_000

  /// The members who have read something and let others see it, in the order in which they joined. The reader is always
  /// included.
  /// - Parameters:
  ///   - reader: the user who requests the receipts.
  ///   - cursor: `next` of the previous page; nil for the first.
  package func receipts(
    of room: RoomID, for reader: UserID, after cursor: LogPosition? = nil, limit: Int
  ) throws -> ReceiptPage {
    var found: [ReceiptRow] = []
    var (members, reached) = (0, LogPosition.origin)
    try CachedStatement(
      database,
      """
      SELECT userId, joinedPosition, userId <> ?1 AND EXISTS (
        SELECT 1 FROM hiddenReader WHERE hiddenReader.userId = member.userId), markerMessageId, markerTime FROM member
      WHERE roomId = ?2 AND joinedPosition > ?3 ORDER BY joinedPosition
      """
    ).readWhile(reader, room, cursor.map { Int64(clamping: $0.value) } ?? 0) { row in
      // Reads one more, to know whether there is a next page.
      guard found.count <= limit, members < Self.receiptMembers else { return false }
      let (user, joined) = try (row.id(UserID.self), row.position())
      let isHidden = try row.number() != 0
      members += 1
      reached = joined
      if let read = try Self.readPoint(&row), !isHidden {
        found.append(ReceiptRow(user: user, read: read, joined: joined))
      }
      return true
    }
    let receipts = Array(found.prefix(limit))
    let isCutShort = found.count <= limit && members == Self.receiptMembers
    return ReceiptPage(
      receipts: receipts, profiles: try profiles(of: receipts.lazy.map(\.user)),
      next: found.count > limit ? receipts.last?.joined : isCutShort ? reached : nil)
  }

  /// Reads two columns, which are NULL together.
  static func readPoint(_ row: inout RowReader) throws -> ReadPoint? {
    if row.isNull {
      row.skip(2)
      return nil
    }
    return try ReadPoint(message: row.id(), time: row.time())
  }

  /// Reads two columns, which are NULL together.
  static func readUnreadMark(_ row: inout RowReader) throws -> UnreadMark? {
    if row.isNull {
      row.skip(2)
      return nil
    }
    return try UnreadMark(ordinal: row.unsigned(), message: row.id())
  }
}

/// The users who do not let others see how far they have read.
enum HiddenReaders {
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE hiddenReader (
          userId BLOB PRIMARY KEY NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// - Returns: false if nothing changed.
  static func set(_ isHidden: Bool, _ user: UserID, _ database: Database) throws -> Bool {
    let sql =
      isHidden
      ? "INSERT INTO hiddenReader (userId) VALUES (?) ON CONFLICT (userId) DO NOTHING"
      : "DELETE FROM hiddenReader WHERE userId = ?"
    return try CachedStatement(database, sql).run(user) > 0
  }
}
