import ChatPrimitives

@testable import EventLog

/// Reads small numbers and byte ranges from the front of an input. Missing bytes count as zero.
struct InputBytes {
  private(set) var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) {
    rest = input[...]
  }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A little-endian number with this many bytes.
  mutating func number(bytes: Int) -> Int {
    (0..<bytes).reduce(0) { value, index in value | Int(byte()) << (8 * index) }
  }

  /// The next `count` bytes, or all that are left.
  mutating func take(_ count: Int) -> [UInt8] {
    let part = rest.prefix(count)
    rest = rest.dropFirst(part.count)
    return Array(part)
  }
}

extension [UInt8] {
  /// The same bytes, extended with zeros or cut to this length.
  func resized(to count: Int) -> [UInt8] {
    Array(prefix(count)) + [UInt8](repeating: 0, count: Swift.max(0, count - self.count))
  }

  /// Overwrites existing bytes.
  mutating func write<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    withUnsafeMutableBytes { $0.put(value, at: offset) }
  }

  func number<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type = Value.self) -> Value {
    span.bytes.integer(at: offset, as: type) ?? 0
  }

  /// Writes the CRC32C of all bytes before `offset` to that offset.
  mutating func fixChecksum(at offset: Int) {
    let checksum = CRC32C.of(span.bytes.extracting(..<offset))
    write(checksum, at: offset)
  }
}
