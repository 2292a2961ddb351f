package import ChatDomain
package import ChatPrimitives
import GRDBSQLite

/// Reads the columns of one row from left to right. Throws `ProjectionError` with the code `damagedRow` if a value does
/// not have the form that the schema requires.
package struct RowReader {
  private let handle: OpaquePointer
  private var index: Int32 = 0

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  /// Whether the next column is NULL. Does not advance.
  package var isNull: Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }

  package mutating func skip(_ columns: Int32 = 1) { index += columns }

  package mutating func number() throws -> Int64 {
    let column = try take(SQLITE_INTEGER)
    return sqlite3_column_int64(handle, column)
  }

  package mutating func text() throws -> String {
    let column = try take(SQLITE_TEXT)
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let length = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
  }

  package mutating func bytes() throws -> [UInt8] {
    try withBlob { Array($0) }
  }

  package mutating func withBlob<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    let column = try take(SQLITE_BLOB)
    let start = sqlite3_column_blob(handle, column)
    return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  package mutating func uuid() throws -> UUIDBytes {
    let column = index
    let uuid: UUIDBytes? = try withBlob { buffer in
      guard buffer.count == UUIDBytes.byteCount else { return nil }
      return UUIDBytes(
        high: UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        low: UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
    guard let uuid else { throw damage(column, "not sixteen bytes") }
    return uuid
  }

  private mutating func take(_ type: Int32) throws -> Int32 {
    let found = sqlite3_column_type(handle, index)
    guard found == type else { throw damage(index, "SQLite type \(found) instead of \(type)") }
    defer { index += 1 }
    return index
  }

  private func damage(_ column: Int32, _ what: String) -> ProjectionError {
    let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "\(column)"
    return ProjectionError(.damagedRow, "column \(name): \(what); rebuild this projection")
  }
}

// MARK: - The project's types

extension RowReader {
  package mutating func unsigned() throws -> UInt64 {
    let column = index
    guard let value = UInt64(exactly: try number()) else { throw damage(column, "a negative count") }
    return value
  }

  package mutating func bits() throws -> UInt64 { UInt64(bitPattern: try number()) }
  package mutating func id<Entity>(_ type: ID<Entity>.Type = ID<Entity>.self) throws -> ID<Entity> { ID(try uuid()) }
  /// Reads concatenated IDs from a blob.
  package mutating func ids<Entity>(_ type: ID<Entity>.Type = ID<Entity>.self) throws -> [ID<Entity>] {
    let bytes = try bytes()
    return try stride(from: 0, to: bytes.count, by: UUIDBytes.byteCount).map { start in
      let end = start + UUIDBytes.byteCount
      guard end <= bytes.count, let uuid = UUIDBytes(bytes: bytes[start..<end]) else {
        throw damage(index - 1, "\(bytes.count) bytes, which are not IDs")
      }
      return ID(uuid)
    }
  }
  package mutating func position() throws -> LogPosition { LogPosition(try unsigned()) }
  package mutating func time() throws -> Timestamp { Timestamp(milliseconds: try number()) }
  package mutating func stamp() throws -> Stamp { Stamp(position: try position(), time: try time()) }
  package mutating func fingerprint() throws -> Fingerprint { Fingerprint(bytes: try uuid()) }

  /// A number that must fit a narrower type.
  package mutating func narrow<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws -> Number {
    let column = index
    let value = try number()
    guard let narrow = Number(exactly: value) else { throw damage(column, "\(value) does not fit") }
    return narrow
  }

  /// An enum case with this raw value.
  package mutating func choice<Choice: RawRepresentable<UInt8>>(_ type: Choice.Type = Choice.self) throws -> Choice {
    let column = index
    let raw = try narrow(UInt8.self)
    guard let choice = Choice(rawValue: raw) else { throw damage(column, "unknown value \(raw)") }
    return choice
  }

  /// Nil if the column is NULL, otherwise the result of `read`.
  package mutating func optional<Value>(_ read: (inout RowReader) throws -> Value) throws -> Value? {
    if isNull {
      skip()
      return nil
    }
    return try read(&self)
  }

  /// Reads two columns, which are NULL together.
  package mutating func optionalStamp() throws -> Stamp? {
    if isNull {
      skip(2)
      return nil
    }
    return try stamp()
  }
}
