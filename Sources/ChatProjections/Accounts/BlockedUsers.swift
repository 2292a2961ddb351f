package import ChatDomain
package import ChatPrimitives
import GRDB

/// A user whom another user blocks.
package struct BlockedUserRow: Sendable, Hashable {
  package var user: UserID
  package var blocked: Stamp

  package init(user: UserID, blocked: Stamp) {
    self.user = user
    self.blocked = blocked
  }
}

/// Blocked users, the newest block first.
package struct BlockedUserPage: Sendable, Hashable {
  package var blocked: [BlockedUserRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if there is none.
  package var next: LogPosition?
}

/// The table `blockedUser`: the users whom each user blocks.
enum BlockedUsers {
  static let columns = "blockedId, position, time"

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE blockedUser (
          userId BLOB NOT NULL,
          blockedId BLOB NOT NULL,
          position INTEGER NOT NULL,
          time INTEGER NOT NULL,
          PRIMARY KEY (userId, blockedId)
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// A repeated block does not change the stamp.
  static func apply(_ event: UserEvent.Blocks, of user: UserID, _ stamp: Stamp, _ database: Database) throws {
    switch event {
    case .blocked(let other):
      try CachedStatement(
        database,
        """
        INSERT INTO blockedUser (userId, blockedId, position, time) VALUES (?, ?, ?, ?)
        ON CONFLICT (userId, blockedId) DO NOTHING
        """
      ).run(user, other, stamp)
    case .unblocked(let other):
      try CachedStatement(database, "DELETE FROM blockedUser WHERE userId = ? AND blockedId = ?").run(user, other)
    }
  }

  static func read(_ row: inout RowReader) throws -> BlockedUserRow {
    try BlockedUserRow(user: row.id(), blocked: row.stamp())
  }
}

extension AccountsQueries {
  /// - Parameter cursor: `next` of the page before; nil for the first.
  package func blockedUsers(
    of user: UserID, after cursor: LogPosition? = nil, limit: Int
  ) throws -> BlockedUserPage {
    // A user has at most `Limits.blockedUsersPerUser` rows, so sorting needs no index.
    let found = try CachedStatement(
      database,
      """
      SELECT \(BlockedUsers.columns) FROM blockedUser WHERE userId = ? AND position < ? ORDER BY position DESC LIMIT ?
      """
    ).all(user, cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit + 1, read: BlockedUsers.read)
    let blocked = Array(found.prefix(limit))
    return BlockedUserPage(
      blocked: blocked, profiles: try profiles(of: blocked.map(\.user)),
      next: found.count > limit ? blocked.last?.blocked.position : nil)
  }

  /// Where and when the user blocked the other user; nil if the other user is not blocked.
  package func block(of other: UserID, by user: UserID) throws -> Stamp? {
    try CachedStatement(
      database, "SELECT \(BlockedUsers.columns) FROM blockedUser WHERE userId = ? AND blockedId = ?"
    ).first(user, other, read: BlockedUsers.read)?.blocked
  }

  /// The profiles of those users who are registered.
  package func profiles(of users: some Sequence<UserID>) throws -> [UserID: Profile] {
    let statement = try CachedStatement(database, "SELECT nickname, picture FROM user WHERE id = ?")
    var profiles: [UserID: Profile] = [:]
    for user in users {
      profiles[user] = try statement.first(user) {
        try Profile(nickname: $0.text(), picture: $0.optional { try $0.id() })
      }
    }
    return profiles
  }
}

extension AccountsQueries {
  /// The IDs of all users whom the user blocks, at most `Limits.blockedUsersPerUser`.
  package func blockedIDs(of user: UserID) throws -> Set<UserID> {
    Set(try CachedStatement(database, "SELECT blockedId FROM blockedUser WHERE userId = ?").all(user) { try $0.id() })
  }
}
