import ChatDomain
import ChatPrimitives
import GRDB

/// Takes out the rows of what was deleted as a whole, a bounded number in each transaction: a room of a million messages
/// would else hold every reader up.
///
/// The deletion itself takes away the one row by which all others are found, so that nobody sees them from that moment.
/// What is left to take out is in the table `clearing`, which survives a crash. Nothing is ever added to what is
/// cleared, so the rows at the end are the same however it was cut, and whatever was applied in between.
package enum BulkDeletion {
  /// What was deleted: rooms and workspaces may share an ID. The raw values are stored in the table.
  package enum Scope: Int64, Sendable {
    case room = 1
    case workspace = 2
  }

  /// Where rows of it stand.
  package struct RowSet: Sendable {
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
  static func comparison(of table: String, _ rowSets: [RowSet]) -> TableComparison {
    guard !rowSets.isEmpty else { return .rows }
    if table == "clearing" { return .none }
    guard let rowSet = rowSets.first(where: { $0.table == table }) else { return .rows }
    let owner = rowSet.isPrefix ? "substr(\(rowSet.owner), 1, \(UUIDBytes.byteCount))" : rowSet.owner
    return .except("\(owner) IN (SELECT id FROM clearing WHERE scope = \(rowSet.scope.rawValue))")
  }

  /// - Returns: whether there is more to do.
  static func step(_ rowSets: [RowSet], _ database: Database, rows: Int = rowsAtOnce) throws -> Bool {
    guard !rowSets.isEmpty else { return false }
    let next = try CachedStatement(database, "SELECT scope, id FROM clearing ORDER BY scope, id LIMIT 1")
      .first { row in (scope: try row.number(), id: try row.uuid()) }
    guard let (scope, id) = next else { return false }
    var left = rows
    for rowSet in rowSets where rowSet.scope.rawValue == scope {
      left -= try clear(rowSet, of: id, rows: left, database)
      if left <= 0 { return true }
    }
    try CachedStatement(database, "DELETE FROM clearing WHERE scope = ? AND id = ?").run(scope, id)
    return true
  }

  /// By the primary key, so that a step costs as much as the rows that it takes out, however many are left.
  private static func clear(_ rowSet: RowSet, of id: UUIDBytes, rows: Int, _ database: Database) throws -> Int {
    let (table, owner, key) = (rowSet.table, rowSet.owner, rowSet.key)
    let which = rowSet.isPrefix ? "\(owner) BETWEEN ? AND ?" : "\(owner) = ?"
    return try CachedStatement(
      database,
      """
      DELETE FROM \(table) WHERE \(rowSet.isPrefix ? "" : "\(which) AND") (\(key)) IN
        (SELECT \(key) FROM \(table) WHERE \(which) ORDER BY \(key) LIMIT ?)
      """
    ).run(id, rowSet.isPrefix ? id.bytes + beyondEveryOwner : id.bytes, rows)
  }

  /// What follows an ID in a column that says more is shorter than this, or less.
  private static let beyondEveryOwner = [UInt8](repeating: 0xff, count: 64)
}
