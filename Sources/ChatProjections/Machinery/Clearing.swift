import ChatDomain
import ChatPrimitives
import GRDB

/// Takes out the rows of what was deleted as a whole, a bounded number in each transaction: a room of a million messages
/// would else hold every reader up.
///
/// The deletion itself takes away the one row by which all others are found, so that nobody sees them from that moment.
/// What is left to take out stands in the table `clearing`, which survives a crash. Nothing is ever added to what is
/// cleared, so the rows at the end are the same however it was cut, and whatever was applied in between.
package enum Clearing {
  /// What was deleted: rooms and workspaces may share an ID. The raw values stand in the table.
  package enum Scope: Int64, Sendable {
    case room = 1
    case workspace = 2
  }

  /// Where rows of it stand.
  package struct Place: Sendable {
    var scope: Scope
    var table: String
    /// The column with the ID of what was deleted.
    var owner: String
    /// The column begins with that ID, and says more.
    var isPrefix: Bool
    /// The columns that name a row within it.
    var key: String

    package init(scope: Scope, table: String, owner: String, isPrefix: Bool = false, key: String) {
      self.scope = scope
      self.table = table
      self.owner = owner
      self.isPrefix = isPrefix
      self.key = key
    }
  }

  /// Rows of one transaction at most: what an event that comes meanwhile waits for.
  static let rowsAtOnce = 4_096

  /// Whether an event leaves something to clear.
  static func follows(_ recorded: RecordedEvent) -> Bool {
    switch recorded.event {
    case .room(_, .lifecycle(.deleted)), .workspace(_, .lifecycle(.deleted)): true
    case .user, .room, .workspace, .server: false
    }
  }

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE clearing (
          scope INTEGER NOT NULL,
          id BLOB NOT NULL,
          PRIMARY KEY (scope, id)
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func note<Entity>(_ id: ID<Entity>, _ scope: Scope, _ database: Database) throws {
    try CachedStatement(database, "INSERT OR IGNORE INTO clearing (scope, id) VALUES (?, ?)").run(scope.rawValue, id)
  }

  /// A file that is in the middle of it is compared without what is left to take out.
  static func comparison(of table: String, _ places: [Place]) -> TableComparison {
    guard !places.isEmpty else { return .rows }
    if table == "clearing" { return .none }
    guard let place = places.first(where: { $0.table == table }) else { return .rows }
    let owner = place.isPrefix ? "substr(\(place.owner), 1, \(UUIDBytes.byteCount))" : place.owner
    return .except("\(owner) IN (SELECT id FROM clearing WHERE scope = \(place.scope.rawValue))")
  }

  /// - Returns: whether there is more to do.
  static func step(_ places: [Place], _ database: Database, rows: Int = rowsAtOnce) throws -> Bool {
    guard !places.isEmpty else { return false }
    let next = try CachedStatement(database, "SELECT scope, id FROM clearing ORDER BY scope, id LIMIT 1")
      .first { row in (scope: try row.number(), id: try row.uuid()) }
    guard let (scope, id) = next else { return false }
    var left = rows
    for place in places where place.scope.rawValue == scope {
      left -= try clear(place, of: id, rows: left, database)
      if left <= 0 { return true }
    }
    try CachedStatement(database, "DELETE FROM clearing WHERE scope = ? AND id = ?").run(scope, id)
    return true
  }

  /// By the primary key, so that a step costs as much as the rows that it takes out, however many are left.
  private static func clear(_ place: Place, of id: UUIDBytes, rows: Int, _ database: Database) throws -> Int {
    let (table, owner, key) = (place.table, place.owner, place.key)
    let which = place.isPrefix ? "\(owner) BETWEEN ? AND ?" : "\(owner) = ?"
    return try CachedStatement(
      database,
      """
      DELETE FROM \(table) WHERE \(place.isPrefix ? "" : "\(which) AND") (\(key)) IN
        (SELECT \(key) FROM \(table) WHERE \(which) ORDER BY \(key) LIMIT ?)
      """
    ).run(id, place.isPrefix ? id.bytes + beyondEveryOwner : id.bytes, rows)
  }

  /// What follows an ID in a column that says more is shorter than this, or less.
  private static let beyondEveryOwner = [UInt8](repeating: 0xff, count: 64)
}
