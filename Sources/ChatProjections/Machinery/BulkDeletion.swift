import ChatDomain
import ChatPrimitives
import GRDB

/// Removes the rows of a deleted room or workspace, a bounded number in each transaction. Otherwise, deleting a room
/// with a million messages would delay every reader.
///
/// The deletion itself removes the one row through which all others are found, so readers no longer see them from then
/// on. The table `clearing` lists what still has to be removed, so the work continues after a crash. No rows are added
/// for a deleted room or workspace, so the final rows do not depend on how the work was divided or which events were
/// applied in between.
package enum BulkDeletion {
  /// What was deleted. Needed because a room and a workspace can have the same ID. The raw values are stored in the
  /// table.
  package enum Scope: Int64, Sendable {
    case room = 1
    case workspace = 2
  }

  /// A table with rows that have to be removed.
  package struct RowSet: Sendable {
    var scope: Scope
    var table: String
    /// The column with the ID of the deleted room or workspace.
    var owner: String
    /// Whether the column only begins with that ID.
    var isPrefix: Bool
    /// A letter that the column has before that ID. Nil if it only has the ID.
    var letter: UInt8?
    /// The columns that identify a row within the deleted room or workspace.
    var key: String
    /// If not nil, the rows are kept, and only this column is set to NULL.
    var nulledColumn: NulledColumn?
    /// If not nil, each row's user gets a row in the table of changes.
    var tombstone: Tombstone?

    package init(
      scope: Scope, table: String, owner: String, isPrefix: Bool = false, letter: UInt8? = nil, key: String,
      nulledColumn: NulledColumn? = nil, tombstone: Tombstone? = nil
    ) {
      self.scope = scope
      self.table = table
      self.owner = owner
      self.isPrefix = isPrefix
      self.letter = letter
      self.key = key
      self.nulledColumn = nulledColumn
      self.tombstone = tombstone
    }

    /// For a file that does not note changes.
    package var withoutTombstone: RowSet {
      var rowSet = self
      rowSet.tombstone = nil
      return rowSet
    }
  }

  /// What a user's clients learn from a removed row, as SQL on its table.
  package struct Tombstone: Sendable {
    var type: ChangeType
    /// The column with the user's ID.
    var user: String
    /// See `ChangedEntity.bytes`.
    var entity: String
    /// Where the room or the workspace was deleted.
    var position: String
  }

  /// A column that is set to NULL, and the partial index, by owner and key, of the rows where it is not NULL yet.
  package struct NulledColumn: Sendable {
    var name: String
    var index: String
  }

  /// The maximum number of rows in one transaction. An event that arrives meanwhile waits for that transaction.
  static let rowsAtOnce = 4_096

  /// Whether there are rows to remove after an event.
  static func follows(_ recorded: RecordedEvent) -> Bool {
    switch recorded.event.endedKey {
    case .room?, .workspace?: true
    case .session?, nil: false
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

  /// Excludes rows that still have to be removed, so that a file can be compared while a bulk deletion is in progress.
  static func comparison(of table: String, _ rowSets: [RowSet]) -> TableComparison {
    guard !rowSets.isEmpty else { return .rows }
    if table == "clearing" { return .none }
    var owners = rowSets.filter { $0.table == table }.map { rowSet in
      ClearedOwner(
        scope: rowSet.scope, letter: rowSet.letter,
        sql: rowSet.isPrefix ? "substr(\(rowSet.owner), 1, \(UUIDBytes.byteCount))" : rowSet.owner)
    }
    if table == Changes.table {
      owners += rowSets.filter { $0.tombstone != nil }.map { ClearedOwner(scope: $0.scope, sql: Changes.firstID) }
    }
    return owners.isEmpty ? .rows : .exceptCleared(owners, also: nil)
  }

  /// How a row names the deleted room or workspace that it is of.
  package struct ClearedOwner: Sendable {
    let scope: Scope
    /// The letter before the ID, if there is one.
    var letter: UInt8?
    /// The ID, with the letter.
    let sql: String

    /// Whether a row is of one of these rooms and workspaces, as SQL.
    func condition(_ cleared: [Cleared]) -> String {
      let ids = cleared.filter { $0.scope == scope.rawValue }.map { cleared in
        "x'\(Hexadecimal.text((letter.map { [$0] } ?? []) + cleared.id.bytes))'"
      }
      return ids.isEmpty ? "FALSE" : "\(sql) IN (\(ids.joined(separator: ", ")))"
    }
  }

  /// A row of `clearing`.
  struct Cleared {
    let scope: Int64
    let id: UUIDBytes
  }

  /// Empty for a file without bulk deletions.
  static func cleared(_ database: Database) throws -> [Cleared] {
    guard try database.tableExists("clearing") else { return [] }
    return try CachedStatement(database, "SELECT scope, id FROM clearing")
      .all { try Cleared(scope: $0.number(), id: $0.uuid()) }
  }

  /// - Returns: whether there may be more to do.
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

  /// Uses the primary key, so that the cost of a step depends only on the rows that it removes, not on how many remain.
  /// Rows that stay are found in an index of what remains. SQLite would not choose that index.
  private static func clear(_ rowSet: RowSet, of id: UUIDBytes, rows: Int, _ database: Database) throws -> Int {
    let (table, owner, key) = (rowSet.table, rowSet.owner, rowSet.key)
    let first = rowSet.letter.map { [$0] + id.bytes } ?? id.bytes
    let which = rowSet.isPrefix ? "\(owner) BETWEEN ? AND ?" : "\(owner) = ?"
    if let column = rowSet.nulledColumn {
      return try CachedStatement(
        database,
        """
        UPDATE \(table) SET \(column.name) = NULL WHERE \(owner) = ? AND (\(key)) IN
          (SELECT \(key) FROM \(table) INDEXED BY \(column.index) WHERE \(owner) = ? AND \(column.name) IS NOT NULL
          ORDER BY \(key) LIMIT ?)
        """
      ).run(first, first, rows)
    }
    let last = rowSet.isPrefix ? first + beyondEveryOwner : first
    let rowsToRemove = """
      FROM \(table) WHERE \(rowSet.isPrefix ? "" : "\(which) AND") (\(key)) IN
        (SELECT \(key) FROM \(table) WHERE \(which) ORDER BY \(key) LIMIT ?)
      """
    if let tombstone = rowSet.tombstone {
      try Changes.note(tombstone, ofRows: rowsToRemove, first, last, rows, in: database)
    }
    return try CachedStatement(database, "DELETE \(rowsToRemove)").run(first, last, rows)
  }

  /// Greater than anything that can follow the ID in a prefix column, because what follows is shorter than this or
  /// smaller.
  private static let beyondEveryOwner = [UInt8](repeating: 0xff, count: 64)
}
