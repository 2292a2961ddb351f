package import ChatDomain
package import ChatPrimitives
import GRDB

/// An account that was deleted, and its erasure.
package struct ErasureRow: Sendable, Hashable {
  package var user: UserID
  package var state: DeletedUser
  /// What was erased; nil until the erasure is complete.
  package var erasure: Erasure?
}

/// Deleted accounts, the newest deletion first.
package struct ErasurePage: Sendable, Hashable {
  package var erasures: [ErasureRow]
  /// The cursor of the next page; nil if there is none.
  package var next: LogPosition?
}

/// The table `erasure`: the accounts that were deleted.
enum Erasures {
  static let columns = """
    userId, deletedPosition, deletedTime, erasedPosition, erasedTime, erasedRecords, keptRecords
    """

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE erasure (
          userId BLOB PRIMARY KEY NOT NULL,
          deletedPosition INTEGER NOT NULL,
          deletedTime INTEGER NOT NULL,
          erasedPosition INTEGER,
          erasedTime INTEGER,
          erasedRecords INTEGER,
          keptRecords INTEGER
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX erasure_by_deletion ON erasure (deletedPosition);
        CREATE INDEX erasure_pending ON erasure (deletedPosition) WHERE erasedPosition IS NULL;
        """)
  }

  static func read(_ row: inout RowReader) throws -> ErasureRow {
    let user: UserID = try row.id()
    let state = try DeletedUser(deleted: row.stamp(), erased: row.optionalStamp())
    let erasure = try row.optional { row in
      try Erasure(deletion: state.deleted.position, erasedRecords: row.unsigned(), keptRecords: row.unsigned())
    }
    return ErasureRow(user: user, state: state, erasure: erasure)
  }
}

extension AccountsWriter {
  func apply(_ event: UserEvent.Deletion, of user: UserID, _ stamp: Stamp) throws {
    switch event {
    case .deleted:
      try deleteAccount(user, stamp)
    case .erased(let erasure):
      try CachedStatement(
        database,
        """
        UPDATE erasure SET erasedPosition = ?, erasedTime = ?, erasedRecords = ?, keptRecords = ?
        WHERE userId = ? AND erasedPosition IS NULL
        """
      ).run(stamp, erasure.erasedRecords, erasure.keptRecords, user)
    }
  }

  /// Empties the row of the user. The row stays, because the ID stays in use, and keeps nothing else that the user or a
  /// client chose. So a rebuild from a log without the user's payloads gives the same row.
  private func deleteAccount(_ user: UserID, _ stamp: Stamp) throws {
    let preferences = UserPreferences()
    try CachedStatement(
      database,
      """
      UPDATE user SET nickname = '', nicknameCompared = '', picture = NULL, custom = NULL, email = NULL,
        emailCompared = NULL, externalId = NULL, credentialVersion = NULL, credentialHash = NULL,
        credentialLogRounds = NULL, credentialBlockSize = NULL, credentialParallelism = NULL,
        credentialPosition = NULL, credentialTime = NULL, disabledPosition = NULL, disabledTime = NULL,
        fingerprint = NULL, deletedPosition = ?, deletedTime = ?, revision = ?, sharesReadMarkers = ?,
        acceptsDirectMessages = ?, sharesPresence = ?, notifications = ?, mutedKinds = ?, quietFrom = NULL,
        quietTo = NULL, quietTimeZone = NULL, showsPreviews = ?, directRooms = ?, groupAdditions = ?
      WHERE id = ?
      """
    ).run(
      stamp, stamp.position, preferences.sharesReadMarkers, preferences.acceptsDirectMessages,
      preferences.sharesPresence, Int64(preferences.notifications.rawValue), Int64(preferences.mutedKinds.bits),
      preferences.showsPreviews, Int64(preferences.contacts.directRooms.rawValue),
      Int64(preferences.contacts.groupAdditions.rawValue), user)
    for table in ["identity", "device", "blockedUser", "session"] {
      try CachedStatement(database, "DELETE FROM \(table) WHERE userId = ?").run(user)
    }
    try Changes.removeAll(in: .user(user), database)
    try CachedStatement(
      database,
      "INSERT INTO erasure (userId, deletedPosition, deletedTime) VALUES (?, ?, ?) ON CONFLICT (userId) DO NOTHING"
    ).run(user, stamp)
  }
}

extension AccountsQueries {
  /// The erasure of a deleted account; nil if the account was not deleted.
  package func erasure(of user: UserID) throws -> ErasureRow? {
    try CachedStatement(database, "SELECT \(Erasures.columns) FROM erasure WHERE userId = ?")
      .first(user, read: Erasures.read)
  }

  /// A page of the deleted accounts, the newest deletion first.
  /// - Parameter cursor: `next` of the page before; nil for the first page.
  package func erasures(after cursor: LogPosition? = nil, limit: Int) throws -> ErasurePage {
    let page = try NewestFirst(after: cursor, limit: limit, position: { $0.state.deleted.position }) { before, count in
      try CachedStatement(
        database,
        """
        SELECT \(Erasures.columns) FROM erasure INDEXED BY erasure_by_deletion WHERE deletedPosition < ?
        ORDER BY deletedPosition DESC LIMIT ?
        """
      ).all(before, count, read: Erasures.read)
    }
    return ErasurePage(erasures: page.rows, next: page.next)
  }

  /// A page of the erasures that are not complete, the oldest deletion first.
  /// - Parameter position: that of the last deletion on the page before.
  package func pendingErasures(after position: LogPosition, limit: Int) throws -> [ErasureRow] {
    try CachedStatement(
      database,
      """
      SELECT \(Erasures.columns) FROM erasure INDEXED BY erasure_pending
      WHERE erasedPosition IS NULL AND deletedPosition > ? ORDER BY deletedPosition LIMIT ?
      """
    ).all(position, limit, read: Erasures.read)
  }

  /// The number of erasures that are not complete. It is counted only up to `most`.
  package func pendingErasureCount(atMost most: Int) throws -> Int {
    let count = try CachedStatement(
      database,
      """
      SELECT count(*) FROM
        (SELECT 1 FROM erasure INDEXED BY erasure_pending WHERE erasedPosition IS NULL LIMIT ?)
      """
    ).first(most) { try $0.number() }
    return Int(count ?? 0)
  }

  /// When the last erasure was completed; nil if none was. Reads the rows of all deleted accounts.
  package func lastErasureTime() throws -> Timestamp? {
    let last = try CachedStatement(database, "SELECT max(erasedTime) FROM erasure").first { row in
      try row.optional { try $0.time() }
    }
    return last ?? nil
  }

  /// Every deleted account, for the state of the deciders.
  func allErasures() throws -> [UserID: ErasureRow] {
    var erasures: [UserID: ErasureRow] = [:]
    try CachedStatement(database, "SELECT \(Erasures.columns) FROM erasure").forEach { row in
      let erasure = try Erasures.read(&row)
      erasures[erasure.user] = erasure
    }
    return erasures
  }
}
