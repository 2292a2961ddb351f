import ChatDomain
import ChatPrimitives
import GRDB

/// Erases the messages of deleted rooms, a bounded number in each transaction. Otherwise, a room with a million
/// messages would delay the thread that follows the log.
///
/// The deletion itself removes the room's row, without which none of its messages are found. The table `closing` lists
/// the rooms that remain to be erased, so the work continues after a crash. Indexed texts are overwritten in place and
/// keep their rows, like those of single messages: if rows were removed, SQLite would move other rows and leave copies
/// of them.
enum SearchBulkDeletion {
  /// The maximum number of messages and members in one transaction.
  static let rowsAtOnce = 2_000

  /// - Parameter room: the room's number.
  static func note(_ room: Int64, _ database: Database) throws {
    try CachedStatement(database, "INSERT OR IGNORE INTO closing (room) VALUES (?)").run(room)
  }

  static func isOwed(_ database: Database) throws -> Bool { try next(database) != nil }

  private static func next(_ database: Database) throws -> Int64? {
    try CachedStatement(database, "SELECT room FROM closing ORDER BY room LIMIT 1").first { try $0.number() }
  }

  /// - Returns: whether there was something to do.
  @discardableResult
  static func step(_ database: Database, rows: Int = rowsAtOnce) throws -> Bool {
    guard let room = try next(database) else { return false }
    let messages = try eraseMessages(of: room, rows, database)
    let members = messages < rows ? try dismissMembers(of: room, rows - messages, database) : 0
    if messages + members < rows {
      try CachedStatement(database, "DELETE FROM closing WHERE room = ?").run(room)
    }
    return true
  }

  private static func eraseMessages(of room: Int64, _ rows: Int, _ database: Database) throws -> Int {
    let messages = try CachedStatement(
      database, "SELECT thread, ordinal, wording FROM place WHERE room = ? ORDER BY thread, ordinal LIMIT ?"
    ).all(room, rows) {
      (location: MessageLocation(thread: try $0.unsigned(), ordinal: try $0.unsigned()), indexedText: try $0.position())
    }
    let delete = try CachedStatement(database, "DELETE FROM place WHERE room = ? AND thread = ? AND ordinal = ?")
    var stale: Set<UInt64> = []
    for (location, indexedText) in messages {
      if try IndexedText.erase(at: indexedText, database) { stale.insert(SearchShard(of: indexedText).number) }
      try delete.run(room, location)
    }
    for number in stale.sorted() { try SearchShard(number: number).noteStale(database) }
    return messages.count
  }

  private static func dismissMembers(of room: Int64, _ rows: Int, _ database: Database) throws -> Int {
    try CachedStatement(
      database,
      "DELETE FROM member WHERE room = ? AND userId IN (SELECT userId FROM member WHERE room = ? ORDER BY userId LIMIT ?)"
    ).run(room, room, rows)
  }

  // MARK: - Comparison

  /// Compares a file with unfinished deletions as if they were finished, and only what a search can find. A rebuild
  /// does not see an edit that was erased from the log. So of an erased text, it knows neither all rows nor the length,
  /// and its shard may be missing or cover less time.
  static func comparison(of table: String) -> TableComparison {
    // The sign keeps SQLite from making an index of it.
    let isShown = "+isGone = 0 AND wording.room NOT IN (SELECT room FROM closing)"
    switch table {
    case "closing": return .none
    case "member": return .except("room IN (SELECT room FROM closing)")
    case "place":
      return .selected(
        """
        SELECT place.room, place.thread, place.ordinal, iif(isGone, 0, place.wording) AS wording
        FROM place LEFT JOIN wording ON wording.position = place.wording
        WHERE place.room NOT IN (SELECT room FROM closing)
        ORDER BY place.room, place.thread, place.ordinal
        """, key: 3)
    case "wording": return .selected("SELECT * FROM wording WHERE \(isShown) ORDER BY position", key: 1)
    case "shard":
      return .selected(
        """
        SELECT number, earliest <= MIN(sentAt) AS coversEarliest, latest >= MAX(sentAt) AS coversLatest
        FROM shard CROSS JOIN wording
          ON position BETWEEN number * \(SearchShard.span) AND number * \(SearchShard.span) + \(SearchShard.span - 1)
        WHERE \(isShown)
        GROUP BY number ORDER BY number
        """, key: 1)
    default: return .rows
    }
  }
}
