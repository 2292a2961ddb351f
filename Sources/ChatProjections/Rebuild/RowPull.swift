import ChatPrimitives
import Foundation
import GRDB
import GRDBSQLite

/// Reads rows one at a time, to compare two files side by side. Rows that are equal cost no allocations.
struct RowPull {
  private let statement: Statement
  private let handle: OpaquePointer

  /// The length at which displayed text or bytes are truncated, in bytes.
  private static let shownBytes = 64

  init(_ database: Database, _ sql: String) throws {
    statement = try database.makeStatement(sql: sql)
    handle = statement.sqliteStatement
  }

  /// - Returns: false after the last row.
  func next() throws -> Bool {
    let code = sqlite3_step(handle)
    guard code == SQLITE_ROW || code == SQLITE_DONE else {
      let message = sqlite3_errmsg(sqlite3_db_handle(handle)).map { String(cString: $0) }
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
    }
    return code == SQLITE_ROW
  }

  /// Orders two values as SQLite does (<https://www.sqlite.org/datatype3.html>, section 4.1), with binary collation.
  /// - Returns: a negative number, zero or a positive number.
  static func order(_ left: RowPull, _ right: RowPull, column: Int32) -> Int {
    let types = (sqlite3_column_type(left.handle, column), sqlite3_column_type(right.handle, column))
    guard types.0 == types.1 else { return rank(types.0) - rank(types.1) }
    if types.0 == SQLITE_NULL { return 0 }
    if types.0 == SQLITE_INTEGER {
      let values = (sqlite3_column_int64(left.handle, column), sqlite3_column_int64(right.handle, column))
      return values.0 == values.1 ? 0 : values.0 < values.1 ? -1 : 1
    }
    return order(left.bytes(column), right.bytes(column))
  }

  private static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    if left.count == right.count, isEqual(left, right) { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  /// - Parameter right: has the same length.
  private static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard let first = left.baseAddress, let second = right.baseAddress else { return true }
    return memcmp(first, second, left.count) == 0
  }

  private static func rank(_ type: Int32) -> Int {
    if type == SQLITE_NULL { return 0 }
    if type == SQLITE_INTEGER || type == SQLITE_FLOAT { return 1 }
    return type == SQLITE_TEXT ? 2 : 3
  }

  private func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// The value as text for display. Do not use it for secret columns.
  func shown(_ column: Int32) -> String {
    let type = sqlite3_column_type(handle, column)
    if type == SQLITE_NULL { return "NULL" }
    if type == SQLITE_INTEGER { return String(sqlite3_column_int64(handle, column)) }
    let bytes = bytes(column)
    let more = bytes.count > Self.shownBytes ? " and more, \(bytes.count) bytes" : ""
    let shown = bytes.prefix(Self.shownBytes)
    if type == SQLITE_TEXT { return "\"\(String(decoding: shown, as: UTF8.self))\"\(more)" }
    return "x'\(Hexadecimal.text(shown))'\(more)"
  }
}
