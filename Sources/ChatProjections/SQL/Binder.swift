package import ChatDomain
package import ChatPrimitives
import GRDBSQLite

/// Binds the parameters of a statement from left to right. What fails is remembered and thrown when the statement runs.
package struct Binder {
  private let handle: OpaquePointer
  private(set) var count: Int32 = 0
  private(set) var code: Int32 = SQLITE_OK

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  package mutating func addNull() {
    count += 1
    note(sqlite3_bind_null(handle, count))
  }

  package mutating func add(_ number: Int64) {
    count += 1
    note(sqlite3_bind_int64(handle, count, number))
  }

  package mutating func add(_ number: Int) { add(Int64(number)) }

  /// SQLite's integers are signed: what does not fit is an error, never another number.
  package mutating func add(_ number: UInt64) {
    guard let signed = Int64(exactly: number) else {
      count += 1
      note(SQLITE_TOOBIG)
      return
    }
    add(signed)
  }

  /// All 64 bits, whatever they mean.
  package mutating func add(bits: UInt64) { add(Int64(bitPattern: bits)) }

  package mutating func add(_ text: String) {
    count += 1
    var text = text
    let index = count
    let handle = handle
    note(
      text.withUTF8 { bytes in
        // An empty buffer has no address, and SQLite reads a missing address as NULL.
        guard let start = bytes.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, Self.copied) }
        return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) { pointer in
          sqlite3_bind_text(handle, index, pointer, Int32(clamping: bytes.count), Self.copied)
        }
      })
  }

  /// A text, by its bytes.
  package mutating func add(utf8 bytes: [UInt8]) {
    count += 1
    let index = count
    let handle = handle
    note(
      bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress, !buffer.isEmpty else {
          return sqlite3_bind_text(handle, index, "", 0, Self.copied)
        }
        let pointer = start.assumingMemoryBound(to: CChar.self)
        return sqlite3_bind_text(handle, index, pointer, Int32(clamping: buffer.count), Self.copied)
      })
  }

  package mutating func add(_ bytes: [UInt8]) {
    count += 1
    let index = count
    let handle = handle
    note(
      bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress, !buffer.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
        return sqlite3_bind_blob(handle, index, start, Int32(clamping: buffer.count), Self.copied)
      })
  }

  package mutating func add(_ uuid: UUIDBytes) {
    count += 1
    let index = count
    let handle = handle
    note(
      withUnsafeBytes(of: (uuid.high.bigEndian, uuid.low.bigEndian)) { buffer in
        sqlite3_bind_blob(handle, index, buffer.baseAddress, Int32(clamping: buffer.count), Self.copied)
      })
  }

  private mutating func note(_ code: Int32) {
    if self.code == SQLITE_OK { self.code = code }
  }

  /// `SQLITE_TRANSIENT`: SQLite makes its own copy before the call returns. The C macro is a cast that Swift does not
  /// import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

// MARK: - The project's own types

extension Binder {
  package mutating func add<Entity>(_ id: ID<Entity>) { add(id.uuid) }
  package mutating func add(_ position: LogPosition) { add(position.value) }
  package mutating func add(_ time: Timestamp) { add(time.milliseconds) }
  package mutating func add(_ place: MessagePlace) {
    add(place.thread)
    add(place.ordinal)
  }
  package mutating func add(_ role: Role) { add(Int64(role.rawValue)) }

  package mutating func add(_ stamp: Stamp) {
    add(stamp.position)
    add(stamp.time)
  }

  package mutating func add(_ stamp: Stamp?) {
    add(stamp?.position)
    add(stamp?.time)
  }

  package mutating func add<Entity>(_ id: ID<Entity>?) { if let id { add(id) } else { addNull() } }
  package mutating func add(_ position: LogPosition?) { if let position { add(position) } else { addNull() } }
  package mutating func add(_ time: Timestamp?) { if let time { add(time) } else { addNull() } }
  package mutating func add(_ number: Int64?) { if let number { add(number) } else { addNull() } }
  package mutating func add(_ number: UInt64?) { if let number { add(number) } else { addNull() } }
  package mutating func add(_ text: String?) { if let text { add(text) } else { addNull() } }
  package mutating func add(_ bytes: [UInt8]?) { if let bytes { add(bytes) } else { addNull() } }
  package mutating func add(_ print: Fingerprint?) { if let print { add(print.bytes) } else { addNull() } }
}
