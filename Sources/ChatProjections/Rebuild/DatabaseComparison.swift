import GRDB

/// Compares two files of one projection: the schema, and all rows of all tables in the order of the primary key.
struct DatabaseComparison {
  /// How many differences are kept for display. All are counted.
  static let shownDifferences = 20

  private let live: Database
  private let rebuilt: Database
  private let projection: any Projection.Type

  private(set) var rowsByTable: [String: Int] = [:]
  private(set) var differences: [RowDifference] = []
  private(set) var differenceCount = 0

  init(live: Database, rebuilt: Database, _ projection: any Projection.Type) {
    self.live = live
    self.rebuilt = rebuilt
    self.projection = projection
  }

  mutating func run() throws {
    let (liveSchema, rebuiltSchema) = (try schema(of: live), try schema(of: rebuilt))
    compareSchemas(liveSchema, rebuiltSchema)
    // One file may have the tombstones of a deleted room where the other still has its rows.
    let cleared = try BulkDeletion.cleared(live) + BulkDeletion.cleared(rebuilt)
    // If the table's definitions differ, its rows cannot be compared column by column.
    for (name, entry) in rebuiltSchema.sorted(by: { $0.key < $1.key }) where entry.type == "table" {
      guard liveSchema[name] == entry else { continue }
      switch projection.comparison(of: name) {
      case .rows: try compareRows(of: name)
      case .selected(let query, let key): try compareRows(of: name, query, key: key)
      case .except(let condition): try compareRows(of: name, except: condition)
      case .exceptCleared(let owners, also: let also):
        let conditions = owners.map { $0.condition(cleared) } + (also.map { [$0] } ?? [])
        try compareRows(of: name, except: conditions.joined(separator: " OR "))
      case .none: break
      }
    }
  }

  // MARK: - Schemas

  private struct SchemaEntry: Equatable {
    let type: String
    let sql: String
  }

  private func schema(of database: Database) throws -> [String: SchemaEntry] {
    let rows = try CachedStatement(
      database, "SELECT name, type, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).all { row in
      (try row.text(), SchemaEntry(type: try row.text(), sql: try row.optional { try $0.text() } ?? ""))
    }
    return Dictionary(rows, uniquingKeysWith: { first, _ in first })
  }

  private mutating func compareSchemas(_ live: [String: SchemaEntry], _ rebuilt: [String: SchemaEntry]) {
    for name in Set(live.keys).union(rebuilt.keys).sorted() where live[name] != rebuilt[name] {
      let key = "name \"\(name)\""
      guard let old = live[name] else {
        note(RowDifference(table: "sqlite_schema", key: key, kind: .missing))
        continue
      }
      guard let new = rebuilt[name] else {
        // The live file may have created the others for rows whose events were erased.
        if projection.isFixed(name) { note(RowDifference(table: "sqlite_schema", key: key, kind: .unexpected)) }
        continue
      }
      let column = RowDifference.ColumnDifference(column: "sql", live: old.sql, rebuilt: new.sql)
      note(RowDifference(table: "sqlite_schema", key: key, kind: .changed([column])))
    }
  }

  // MARK: - Rows

  private struct Table {
    let name: String
    let columns: [String]
    /// Indexes into `columns`, in the order of the key.
    let key: [Int32]
    let secrets: Set<Int32>
  }

  private func table(_ name: String) throws -> Table {
    let found = try CachedStatement(rebuilt, "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid")
      .all(name) { row in (name: try row.text(), key: try row.number()) }
    let numbered = Array(zip(Int32(0)..., found))
    return Table(
      name: name, columns: found.map(\.name),
      key: numbered.filter { $0.1.key > 0 }.sorted { $0.1.key < $1.1.key }.map(\.0),
      secrets: Set(numbered.filter { projection.secretColumns.contains("\(name).\($0.1.name)") }.map(\.0)))
  }

  private mutating func compareRows(of name: String, except condition: String = "FALSE") throws {
    let table = try table(name)
    let order = table.key.map { Self.quoted(table.columns[Int($0)]) }.joined(separator: ", ")
    let columns = table.columns.map(Self.quoted).joined(separator: ", ")
    let sql = "SELECT \(columns) FROM \(Self.quoted(name)) WHERE NOT (\(condition)) ORDER BY \(order)"
    try compareRows(of: table, sql)
  }

  private mutating func compareRows(of name: String, _ query: String, key: Int) throws {
    let columns = try rebuilt.makeStatement(sql: query).columnNames
    let keyColumns = (0..<Int32(clamping: key)).map { $0 }
    try compareRows(of: Table(name: name, columns: columns, key: keyColumns, secrets: []), query)
  }

  /// - Parameter sql: selects the table's columns, ordered by its key.
  private mutating func compareRows(of table: Table, _ sql: String) throws {
    let (old, new) = (try RowPull(live, sql), try RowPull(rebuilt, sql))
    var (hasOld, hasNew) = (try old.next(), try new.next())
    var rows = 0
    while hasOld || hasNew {
      let order = hasOld && hasNew ? Self.order(of: table.key, old, new) : hasOld ? -1 : 1
      if order == 0 { compareColumns(of: table, old, new) }
      if order < 0 { note(RowDifference(table: table.name, key: Self.key(of: table, old), kind: .unexpected)) }
      if order > 0 { note(RowDifference(table: table.name, key: Self.key(of: table, new), kind: .missing)) }
      if order >= 0 { rows += 1 }
      if order <= 0 { hasOld = try old.next() }
      if order >= 0 { hasNew = try new.next() }
    }
    rowsByTable[table.name] = rows
  }

  private static func order(of key: [Int32], _ old: RowPull, _ new: RowPull) -> Int {
    for column in key {
      let order = RowPull.order(old, new, column: column)
      if order != 0 { return order }
    }
    return 0
  }

  private mutating func compareColumns(of table: Table, _ old: RowPull, _ new: RowPull) {
    var changed: [RowDifference.ColumnDifference] = []
    for (index, column) in zip(Int32(0)..., table.columns) where RowPull.order(old, new, column: index) != 0 {
      let isSecret = table.secrets.contains(index)
      changed.append(
        RowDifference.ColumnDifference(
          column: column, live: isSecret ? Self.mask : old.shown(index),
          rebuilt: isSecret ? Self.mask : new.shown(index)))
    }
    guard !changed.isEmpty else { return }
    note(RowDifference(table: table.name, key: Self.key(of: table, new), kind: .changed(changed)))
  }

  private static let mask = "(secret)"

  private static func key(of table: Table, _ row: RowPull) -> String {
    table.key.map { column in
      let value = table.secrets.contains(column) ? mask : row.shown(column)
      return "\(table.columns[Int(column)]) \(value)"
    }.joined(separator: ", ")
  }

  private static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  private mutating func note(_ difference: RowDifference) {
    differenceCount += 1
    if differences.count < Self.shownDifferences { differences.append(difference) }
  }
}
