import GRDBSQLite

/// Binds the parameters of a statement from left to right. Keeps the first error, which is thrown before the statement
/// runs.
package struct Binder {
  private let handle: OpaquePointer
  private(set) var count: Int32 = 0
  private(set) var code: Int32 = SQLITE_OK

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  mutating func addNull() {
    count += 1
    note(sqlite3_bind_null(handle, count))
  }

  mutating func add(_ number: Int64) {
    count += 1
    note(sqlite3_bind_int64(handle, count, number))
  }

  /// SQLite's integers are signed. A number that does not fit is an error; it is never converted.
  mutating func add(_ number: UInt64) {
    guard let signed = Int64(exactly: number) else {
      count += 1
      note(SQLITE_TOOBIG)
      return
    }
    add(signed)
  }

  mutating func addText(_ utf8: UnsafeBufferPointer<UInt8>) {
    count += 1
    // An empty buffer may have no address, and SQLite reads a missing address as NULL.
    guard let start = utf8.baseAddress, !utf8.isEmpty else {
      note(sqlite3_bind_text(handle, count, "", 0, Self.copied))
      return
    }
    let pointer = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
    note(sqlite3_bind_text(handle, count, pointer, Int32(clamping: utf8.count), Self.copied))
  }

  mutating func addBlob(_ bytes: UnsafeRawBufferPointer) {
    count += 1
    guard let start = bytes.baseAddress, !bytes.isEmpty else {
      note(sqlite3_bind_zeroblob(handle, count, 0))
      return
    }
    note(sqlite3_bind_blob(handle, count, start, Int32(clamping: bytes.count), Self.copied))
  }

  private mutating func note(_ code: Int32) {
    if self.code == SQLITE_OK { self.code = code }
  }

  /// `SQLITE_TRANSIENT`: SQLite makes its own copy before the call returns. The C macro is a cast that Swift does not
  /// import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
