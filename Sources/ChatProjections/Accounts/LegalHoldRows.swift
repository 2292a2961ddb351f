package import ChatDomain
package import ChatPrimitives
import GRDB

/// Legal holds that are in force, the newest first.
package struct LegalHoldPage: Sendable, Hashable {
  package var holds: [LegalHolds.Entry]
  /// The cursor of the next page; nil if there is none.
  package var next: LogPosition?
}

/// The table `legalHold`: the holds that are in force.
struct LegalHoldRows {
  let database: Database

  static let columns = "targetId, isRoom, reason, placedPosition, placedTime"

  init(_ database: Database) {
    self.database = database
  }

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE legalHold (
          targetId BLOB NOT NULL,
          isRoom INTEGER NOT NULL,
          reason TEXT NOT NULL,
          placedPosition INTEGER NOT NULL,
          placedTime INTEGER NOT NULL,
          PRIMARY KEY (targetId, isRoom)
        ) STRICT, WITHOUT ROWID
        """)
  }

  func place(_ hold: LegalHold, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      "INSERT OR REPLACE INTO legalHold (targetId, isRoom, reason, placedPosition, placedTime) VALUES (?, ?, ?, ?, ?)"
    ).run(hold.target.id, hold.target.isRoom, hold.reason, stamp)
  }

  func lift(_ lift: LegalHold.Lift) throws {
    for target in lift.targets {
      try CachedStatement(database, "DELETE FROM legalHold WHERE targetId = ? AND isRoom = ?")
        .run(target.id, target.isRoom)
    }
  }

  static func read(_ row: inout RowReader) throws -> LegalHolds.Entry {
    let id = try row.uuid()
    let target: LegalHold.Target = try row.number() == 0 ? .user(UserID(id)) : .room(RoomID(id))
    return try LegalHolds.Entry(hold: LegalHold(target, reason: row.text()), placed: row.stamp())
  }
}

extension LegalHold.Target {
  fileprivate var isRoom: Bool {
    switch self {
    case .user: false
    case .room: true
    }
  }
}

extension AccountsQueries {
  /// A page of the holds in force, the newest first.
  /// - Parameter cursor: `next` of the page before; nil for the first page.
  package func legalHolds(after cursor: LogPosition? = nil, limit: Int) throws -> LegalHoldPage {
    // There are at most `Limits.legalHolds` rows, so sorting needs no index.
    let page = try NewestFirst(after: cursor, limit: limit, position: { $0.placed.position }) { before, count in
      try CachedStatement(
        database,
        "SELECT \(LegalHoldRows.columns) FROM legalHold WHERE placedPosition < ? ORDER BY placedPosition DESC LIMIT ?"
      ).all(before, count, read: LegalHoldRows.read)
    }
    return LegalHoldPage(holds: page.rows, next: page.next)
  }

  /// Nil if the target is not held.
  package func legalHold(on target: LegalHold.Target) throws -> LegalHolds.Entry? {
    try CachedStatement(database, "SELECT \(LegalHoldRows.columns) FROM legalHold WHERE targetId = ? AND isRoom = ?")
      .first(target.id, target.isRoom, read: LegalHoldRows.read)
  }

  /// All holds in force, for the state of the deciders.
  func holdState() throws -> LegalHolds {
    var state = LegalHolds()
    for entry in try legalHolds(limit: Limits.legalHolds).holds { state.place(entry.hold, entry.placed) }
    return state
  }
}
