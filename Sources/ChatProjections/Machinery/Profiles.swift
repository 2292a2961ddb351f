import ChatDomain
import ChatPrimitives
import GRDB

/// The users' public profiles. Each read model that needs them has this table in its own file, so that a page and the
/// users on it come from the same snapshot.
enum Profiles {
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE profile (
          userId BLOB PRIMARY KEY NOT NULL,
          nickname TEXT NOT NULL,
          picture BLOB
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// A user whose registration was erased gets a profile with the first change.
  static func apply(_ edit: ProfileEdit, of user: UserID, _ database: Database) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO profile (userId, nickname, picture) VALUES (?1, IFNULL(?2, ''), ?3)
      ON CONFLICT (userId) DO UPDATE
      SET nickname = IFNULL(?2, nickname), picture = CASE WHEN ?4 THEN excluded.picture ELSE picture END
      """
    ).run(user, edit.nickname, edit.picture?.media, edit.picture != nil)
  }

  /// The account was deleted. The row stays with an empty nickname, which no other user has.
  static func forget(_ user: UserID, _ database: Database) throws {
    try CachedStatement(database, "INSERT OR REPLACE INTO profile (userId, nickname, picture) VALUES (?, '', NULL)")
      .run(user)
  }

  /// Whether the account was deleted.
  static func isForgotten(_ user: UserID, _ database: Database) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM profile WHERE userId = ? AND nickname = ''").exists(user)
  }

  /// Omits users without a profile.
  static func profiles(of users: some Sequence<UserID>, _ database: Database) throws -> [UserID: Profile] {
    let statement = try CachedStatement(database, "SELECT nickname, picture FROM profile WHERE userId = ?")
    var profiles: [UserID: Profile] = [:]
    for user in users where profiles[user] == nil {
      profiles[user] = try statement.first(user) {
        try Profile(nickname: $0.text(), picture: $0.optional { try $0.id() })
      }
    }
    return profiles
  }
}
