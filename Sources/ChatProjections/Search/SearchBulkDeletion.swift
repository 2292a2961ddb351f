import ChatDomain
import ChatPrimitives
import GRDB

/// Takes out what was said in rooms that were deleted, so many messages in each transaction: a room of a million of them
/// would else hold up whoever follows the log.
///
/// The deletion itself takes away the room's row, without which nothing of it is found. What is left to do is in the
/// table `closing`, which survives a crash. Indexed texts are overwritten where they stand and keep their rows, like
/// those of single messages: rows that were taken out would have SQLite move others, and leave copies of them.
enum SearchBulkDeletion {
  /// Messages and members of one transaction at most.
  static let rowsAtOnce = 2_000

  /// - Parameter room: its number.
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
      (place: MessageLocation(thread: try $0.unsigned(), ordinal: try $0.unsigned()), indexedText: try $0.position())
    }
    let delete = try CachedStatement(database, "DELETE FROM place WHERE room = ? AND thread = ? AND ordinal = ?")
    var stale: Set<UInt64> = []
    for (place, indexedText) in messages {
      if try IndexedText.erase(at: indexedText, database) { stale.insert(SearchShard(of: indexedText).number) }
      try delete.run(room, place)
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

  // MARK: - Comparing

  /// A file that is in the middle of it is compared as if it were done.
  static func comparison(of table: String) -> TableComparison {
    switch table {
    case "closing": return .none
    case "place", "member": return .except("room IN (SELECT room FROM closing)")
    case "wording":
      return .selected(
        """
        SELECT position, isGone OR isClosed, room, thread, ordinal,
          iif(isClosed, zeroblob(length(sender)), sender), sentAt, hasMedia,
          iif(isClosed, zeroblob(length(text)), text), iif(isClosed, zeroblob(length(extra)), extra)
        FROM (SELECT *, EXISTS (SELECT 1 FROM closing WHERE closing.room = wording.room) AS isClosed FROM wording)
        """, key: 1)
    default: return .rows
    }
  }
}
