import ChatPrimitives
import GRDB

/// The users' public profiles. Each read model that needs them has this table in its own file, so that a page and the
/// names on it come from the same snapshot.
enum Profiles {
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE profile (
          userId BLOB PRIMARY KEY NOT NULL,
          nickname TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func set(_ nickname: String, of user: UserID, _ database: Database) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO profile (userId, nickname) VALUES (?, ?)
      ON CONFLICT (userId) DO UPDATE SET nickname = excluded.nickname
      """
    ).run(user, nickname)
  }

  /// Omits users without a profile.
  static func nicknames(of users: some Sequence<UserID>, _ database: Database) throws -> [UserID: String] {
    let statement = try CachedStatement(database, "SELECT nickname FROM profile WHERE userId = ?")
    var nicknames: [UserID: String] = [:]
    for user in users where nicknames[user] == nil {
      nicknames[user] = try statement.first(user) { try $0.text() }
    }
    return nicknames
  }
}
