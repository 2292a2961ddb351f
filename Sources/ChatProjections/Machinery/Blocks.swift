import ChatDomain
import ChatPrimitives
import GRDB

/// The table `block`: who blocks whom. Each read model that needs it has its own, so that a message and its mark come
/// from the same snapshot.
enum Blocks {
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE block (
          blockedId BLOB NOT NULL,
          blockerId BLOB NOT NULL,
          position INTEGER NOT NULL,
          PRIMARY KEY (blockedId, blockerId)
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// A repeated block does not change the position.
  static func apply(
    _ event: UserEvent.Blocks, of blocker: UserID, at position: LogPosition, _ database: Database
  ) throws {
    switch event {
    case .blocked(let user):
      try CachedStatement(
        database,
        """
        INSERT INTO block (blockedId, blockerId, position) VALUES (?, ?, ?)
        ON CONFLICT (blockedId, blockerId) DO NOTHING
        """
      ).run(user, blocker, position)
    case .unblocked(let user):
      try CachedStatement(database, "DELETE FROM block WHERE blockedId = ? AND blockerId = ?").run(user, blocker)
    }
  }

  static func isBlocked(_ user: UserID, by blocker: UserID, _ database: Database) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM block WHERE blockedId = ? AND blockerId = ?").exists(user, blocker)
  }

  /// The senders whom the reader blocks.
  /// - Parameter reader: nil for a service, which sees no marks.
  static func blocked(
    among senders: some Sequence<UserID>, by reader: UserID?, _ database: Database
  ) throws -> Set<UserID> {
    guard let reader else { return [] }
    var blocked: Set<UserID> = []
    for sender in Set(senders) where try isBlocked(sender, by: reader, database) { blocked.insert(sender) }
    return blocked
  }
}
