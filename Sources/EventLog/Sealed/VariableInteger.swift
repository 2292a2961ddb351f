import ChatPrimitives

/// Unsigned LEB128 numbers in their shortest form, and zigzag for signed ones. See `docs/log-format.md`, "Columns".
enum VariableInteger {
  /// The most bytes that a 64-bit number takes, at seven bits a byte.
  static let maximumBytes = 10

  /// Maps small numbers of either sign to small unsigned numbers.
  static func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value << 1) ^ (value >> 63))
  }

  static func unzigzag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// The number of bytes that a number takes.
  static func count(_ value: UInt64) -> Int {
    max(1, (UInt64.bitWidth - value.leadingZeroBitCount + 6) / 7)
  }
}

extension [UInt8] {
  package mutating func append(variable value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a length, or a count of something in memory.
  mutating func append(variable value: Int) {
    append(variable: UInt64(value))
  }

  /// Appends the difference `value - base`, which may wrap around.
  mutating func append(difference value: Int64, from base: Int64) {
    append(variable: VariableInteger.zigzag(value &- base))
  }
}

/// Reads numbers and bytes from the front of a byte range, never beyond its end.
package struct ByteCursor {
  private let bytes: [UInt8]
  private(set) var offset: Int
  let end: Int

  /// A cursor over all bytes from `start` on.
  package init(_ bytes: [UInt8], from start: Int = 0) {
    self.init(bytes, start: min(start, bytes.count), end: bytes.count)
  }

  private init(_ bytes: [UInt8], start: Int, end: Int) {
    self.bytes = bytes
    offset = start
    self.end = end
  }

  package var isAtEnd: Bool { offset == end }
  package var remaining: Int { end - offset }

  package mutating func variable() throws(FormatFlaw) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < end {
      let byte = bytes[offset]
      offset += 1
      let bits = UInt64(byte & 0x7f)
      guard shift < 63 || bits <= 1 && byte < 0x80 else { throw FormatFlaw("a number has more than 64 bits") }
      value |= bits << shift
      if byte < 0x80 {
        guard byte != 0 || shift == 0 else { throw FormatFlaw("a number is not in its shortest form") }
        return value
      }
      shift += 7
    }
    throw FormatFlaw("a number is cut short")
  }

  /// Reads a length, or a count of something in memory.
  mutating func count(limit: Int) throws(FormatFlaw) -> Int {
    let value = try variable()
    guard let count = Int(exactly: value), count <= limit else {
      throw FormatFlaw("the number \(value) is more than \(limit)")
    }
    return count
  }

  mutating func difference(from base: Int64) throws(FormatFlaw) -> Int64 {
    base &+ VariableInteger.unzigzag(try variable())
  }

  /// Takes the next bytes as a cursor of their own.
  mutating func take(_ count: Int) throws(FormatFlaw) -> ByteCursor {
    guard count >= 0, count <= remaining else { throw FormatFlaw("\(count) bytes are missing") }
    defer { offset += count }
    return ByteCursor(bytes, start: offset, end: offset + count)
  }

  /// Copies the next bytes.
  package mutating func array(_ count: Int) throws(FormatFlaw) -> [UInt8] {
    let part = try take(count)
    return Array(bytes[part.offset..<part.end])
  }

  /// The byte at `index` from the current offset; nil beyond the end.
  func byte(at index: Int) -> UInt8? {
    index >= 0 && index < remaining ? bytes[offset + index] : nil
  }

  /// Calls `body` with the remaining bytes.
  func withRemaining<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
  }
}
