import ChatDomain
import ChatPrimitives
import GRDB

/// The table `roomCustom`: the data that apps store with rooms. It is not in the row of the room, because every message
/// writes that row.
enum RoomCustom {
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: "CREATE TABLE roomCustom (roomId BLOB PRIMARY KEY NOT NULL, custom TEXT NOT NULL) STRICT, WITHOUT ROWID")
  }

  /// - Parameter custom: an empty text removes the data.
  static func set(_ custom: String, of room: RoomID, _ database: Database) throws {
    if custom.isEmpty { return try remove(of: room, database) }
    try CachedStatement(database, "INSERT OR REPLACE INTO roomCustom (roomId, custom) VALUES (?, ?)").run(room, custom)
  }

  static func remove(of room: RoomID, _ database: Database) throws {
    try CachedStatement(database, "DELETE FROM roomCustom WHERE roomId = ?").run(room)
  }

  static func value(of room: RoomID, _ database: Database) throws -> String? {
    try CachedStatement(database, "SELECT custom FROM roomCustom WHERE roomId = ?").first(room) { try $0.text() }
  }
}
