package import GRDB
import GRDBSQLite

/// A statement from GRDB's cache that is bound and stepped with SQLite's own functions, so that a row costs no
/// allocation. GRDB manages the connection, the transaction and the cache.
///
/// Values are bound in the order of the parameters, and every parameter needs a value.
///
/// One statement serves one query at a time: nothing may run the same SQL while its rows are being read.
package struct CachedStatement {
  /// Keeps `handle` valid.
  private let statement: Statement
  private let handle: OpaquePointer

  package init(_ database: Database, _ sql: String) throws {
    precondition(BoundOptionals.bytes > 0, "no type has a size")
    statement = try database.cachedStatement(sql: sql)
    handle = statement.sqliteStatement
  }

  /// Runs a statement that returns no rows.
  /// - Returns: how many rows it changed.
  @discardableResult
  package func run<each Value: SQLBindable>(_ values: repeat each Value) throws -> Int {
    defer { sqlite3_reset(handle) }
    try bind(repeat each values)
    let code = sqlite3_step(handle)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    return Int(sqlite3_changes(sqlite3_db_handle(handle)))
  }

  /// Passes each row to `read`, in order.
  package func forEach<each Value: SQLBindable>(
    _ values: repeat each Value, read: (inout RowReader) throws -> Void
  ) throws {
    try readWhile(repeat each values) { row in
      try read(&row)
      return true
    }
  }

  /// Passes rows to `read`, in order, until it returns false.
  package func readWhile<each Value: SQLBindable>(
    _ values: repeat each Value, read: (inout RowReader) throws -> Bool
  ) throws {
    defer { sqlite3_reset(handle) }
    try bind(repeat each values)
    while true {
      let code = sqlite3_step(handle)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure(code) }
      var row = RowReader(handle)
      guard try read(&row) else { return }
    }
  }

  /// All rows, converted by `read`.
  package func all<each Value: SQLBindable, Row>(
    _ values: repeat each Value, read: (inout RowReader) throws -> Row
  ) throws -> [Row] {
    var rows: [Row] = []
    try forEach(repeat each values) { row in rows.append(try read(&row)) }
    return rows
  }

  /// The first row, converted by `read`; nil if there is none.
  package func first<each Value: SQLBindable, Row>(
    _ values: repeat each Value, read: (inout RowReader) throws -> Row
  ) throws -> Row? {
    var first: Row?
    try readWhile(repeat each values) { row in
      first = try read(&row)
      return false
    }
    return first
  }

  /// Whether there is a row.
  package func exists<each Value: SQLBindable>(_ values: repeat each Value) throws -> Bool {
    try first(repeat each values) { _ in true } != nil
  }

  private func bind<each Value: SQLBindable>(_ values: repeat each Value) throws {
    var binder = Binder(handle)
    repeat (each values).bind(to: &binder)
    guard binder.code == SQLITE_OK else { throw failure(binder.code) }
    precondition(
      binder.count == sqlite3_bind_parameter_count(handle), "every parameter of a statement is bound on every run")
  }

  private func failure(_ code: Int32) -> DatabaseError {
    let message = sqlite3_errmsg(sqlite3_db_handle(handle)).map { String(cString: $0) }
    return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
  }
}
