import ChatPrimitives

@testable import EventLog

/// Small numbers and stretches from the front of an input; what is missing counts as zero.
struct InputBytes {
  private(set) var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) {
    rest = input[...]
  }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A little-endian number of so many bytes.
  mutating func number(bytes: Int) -> Int {
    (0..<bytes).reduce(0) { value, index in value | Int(byte()) << (8 * index) }
  }

  /// As many bytes as there are, at most `count`.
  mutating func take(_ count: Int) -> [UInt8] {
    let part = rest.prefix(count)
    rest = rest.dropFirst(part.count)
    return Array(part)
  }
}

extension [UInt8] {
  /// The same bytes with zeros behind them, or cut, to have this length.
  func resized(to count: Int) -> [UInt8] {
    Array(prefix(count)) + [UInt8](repeating: 0, count: Swift.max(0, count - self.count))
  }

  /// Overwrites bytes that are there.
  mutating func write<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    withUnsafeMutableBytes { $0.put(value, at: offset) }
  }

  func number<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type = Value.self) -> Value {
    span.bytes.integer(at: offset, as: type) ?? 0
  }

  /// Puts the CRC32C of all bytes before `offset` there.
  mutating func fixChecksum(at offset: Int) {
    let checksum = CRC32C.of(span.bytes.extracting(..<offset))
    write(checksum, at: offset)
  }
}
