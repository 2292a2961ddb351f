import ChatDomain
import ChatPrimitives
import GRDB

/// Messages that do not count for a member, because the member blocked the sender when they were sent.
///
/// The counts use sets of ordinals (`OrdinalOwner.leftOut` and `.unmentioned`). The table `leftOut` has the same
/// messages by their location, so that a deletion or an edit finds the members whose sets contain the message. All
/// members of a message are in one row, because a row for each of 256 members takes three times the space.
enum LeftOutMessages {
  /// How the message does not count. The raw values are in the table.
  enum Scope: Int64 {
    /// It does not count as unread.
    case unread = 1
    /// It mentions everyone, but does not count as a mention of the member.
    case everyone = 2
  }

  /// In a room with at most this many members, each member is checked if more users than that block the sender.
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
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE leftOut (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          scope INTEGER NOT NULL,
          userIds BLOB NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal, scope)
        ) STRICT, WITHOUT ROWID;
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

  // MARK: - The sender's blockers

  /// The members of the room who block the sender.
  ///
  /// Checks the blockers or the members, whichever are fewer, up to the limits.
  static func blockers(of sender: UserID, in room: BufferedRoom, _ database: Database) throws -> Set<UserID> {
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

  // MARK: - Entries

  static func add(
    _ users: Set<UserID>, _ scope: Scope, at place: MessageLocation, in room: BufferedRoom, _ database: Database
  ) throws {
    let added = try users.filter {
      try room.insert(place.ordinal, into: owner($0, scope, at: place, in: room), database)
    }
    guard !added.isEmpty else { return }
    // Sorted, so that a rebuild gives the same bytes.
    try CachedStatement(
      database, "INSERT INTO leftOut (roomId, thread, ordinal, scope, userIds) VALUES (?, ?, ?, ?, ?)"
    ).run(room.id, place, scope.rawValue, added.sorted().flatMap(\.uuid.bytes))
  }

  /// - Returns: the members for whom the message did not count.
  @discardableResult
  static func remove(
    _ scope: Scope, at place: MessageLocation, from room: BufferedRoom, _ database: Database
  ) throws -> Set<UserID> {
    let users = try stored(scope, at: place, in: room, database)
    guard !users.isEmpty else { return users }
    for user in users { try room.remove(place.ordinal, from: owner(user, scope, at: place, in: room), database) }
    try CachedStatement(
      database, "DELETE FROM leftOut WHERE roomId = ? AND thread = ? AND ordinal = ? AND scope = ?"
    ).run(room.id, place, scope.rawValue)
    return users
  }

  static func stored(
    _ scope: Scope, at place: MessageLocation, in room: BufferedRoom, _ database: Database
  ) throws -> Set<UserID> {
    let users = try CachedStatement(
      database, "SELECT userIds FROM leftOut WHERE roomId = ? AND thread = ? AND ordinal = ? AND scope = ?"
    ).first(room.id, place, scope.rawValue) { try $0.ids() as [UserID] }
    return Set(users ?? [])
  }

  private static func owner(
    _ user: UserID, _ scope: Scope, at place: MessageLocation, in room: BufferedRoom
  ) -> OrdinalOwner {
    switch scope {
    case .unread: .leftOut(for: user, in: room.id, thread: place.thread)
    case .everyone: .unmentioned(user, in: room.id, thread: place.thread)
    }
  }
}
