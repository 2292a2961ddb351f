import ChatDomain
import ChatPrimitives
import GRDB

/// Finds the members of a room who block the sender of a message, and whether a user has ever blocked anyone.
enum Blockers {
  /// In a room with at most this many members, each member is checked if the sender has more blockers than
  /// the room has members.
  static let checkedMembers: UInt64 = 256
  /// In a larger room, at most this many of the sender's blocks are checked, the oldest first.
  static let checkedBlocks = 4_096
  /// In a larger room, a message is left out of the counts of at most this many members.
  static let leftOutMembers = 256

  /// `block_by_position` is created before a rebuild, unlike other indexes, because batches read by it.
  static func createTables(_ database: Database) throws {
    try Blocks.createTable(database)
    try database.execute(
      sql: """
        CREATE INDEX block_by_position ON block (blockedId, position);

        CREATE TABLE blocker (
          userId BLOB PRIMARY KEY NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// The table `blocker` has everyone who has ever blocked anyone. The counts of other users skip the sets `leftOut`
  /// and `unmentioned`, which they do not have.
  static func apply(
    _ event: UserEvent.Blocks, of user: UserID, at position: LogPosition, _ database: Database
  ) throws {
    try Blocks.apply(event, of: user, at: position, database)
    guard case .blocked = event else { return }
    try CachedStatement(database, "INSERT INTO blocker (userId) VALUES (?) ON CONFLICT (userId) DO NOTHING").run(user)
  }

  static func hasEverBlocked(_ user: UserID, _ database: Database) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM blocker WHERE userId = ?").exists(user)
  }

  static func isBlockedByAnyone(_ user: UserID, _ database: Database) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM block WHERE blockedId = ? LIMIT 1").exists(user)
  }

  /// The members of the room who block the sender.
  ///
  /// In a small room, checks the blockers or the members, whichever are fewer. In a larger room, checks the oldest
  /// blockers, up to the limits.
  static func members(blocking sender: UserID, in room: BufferedRoom, _ database: Database) throws -> Set<UserID> {
    guard let count = room.row?.memberCount else { return [] }
    guard count <= checkedMembers, try isBlocked(sender, byMoreThan: count, database) else {
      return try oldestBlockers(of: sender, in: room, database)
    }
    var blockers: Set<UserID> = []
    for member in try room.memberIDs(database) where try Blocks.isBlocked(sender, by: member, database) {
      blockers.insert(member)
    }
    return blockers
  }

  private static func isBlocked(_ sender: UserID, byMoreThan count: UInt64, _ database: Database) throws -> Bool {
    try CachedStatement(
      database, "SELECT 1 FROM block INDEXED BY block_by_position WHERE blockedId = ? LIMIT 1 OFFSET ?"
    ).exists(sender, count)
  }

  /// Only members count toward `leftOutMembers`, so that accounts outside the room cannot use up this limit.
  private static func oldestBlockers(
    of sender: UserID, in room: BufferedRoom, _ database: Database
  ) throws -> Set<UserID> {
    var blockers: Set<UserID> = []
    try CachedStatement(
      database,
      """
      SELECT blockerId, EXISTS (SELECT 1 FROM member WHERE roomId = ? AND userId = blockerId)
      FROM block INDEXED BY block_by_position WHERE blockedId = ? ORDER BY position LIMIT ?
      """
    ).readWhile(room.id, sender, checkedBlocks) { row in
      let (blocker, isStored) = try (row.id(UserID.self), row.number() != 0)
      if room.isMember(blocker, isStored: isStored) { blockers.insert(blocker) }
      return blockers.count < leftOutMembers
    }
    return blockers
  }
}
