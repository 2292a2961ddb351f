/// The sixteen bytes of a UUID (RFC 9562), stored as two integers so that hashing and comparing are fast.
///
/// All versions are accepted, and no code relies on the order of UUIDs. Text is parsed in upper or lower case and
/// written in lower case.
public struct UUIDBytes: Hashable, Sendable, Comparable {
  /// Bytes 0 to 7, big-endian.
  public let high: UInt64
  /// Bytes 8 to 15, big-endian.
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// All bytes zero; means "none" in fields of fixed width. A client cannot use it as an ID.
  public static let zero = UUIDBytes(high: 0, low: 0)

  public static func < (left: UUIDBytes, right: UUIDBytes) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }
}

// MARK: - Text

extension UUIDBytes {
  /// The number of characters in the textual form.
  public static let textLength = 36

  /// Parses the form `8-4-4-4-12` in upper or lower case.
  /// - Returns: nil if the text has any other form.
  public init?(text: some StringProtocol) {
    // The text is copied into a concrete string, because generic character access costs more than the parsing itself.
    var text = String(text)
    let words = text.withUTF8 { Self.words(in: $0) }
    guard let words else { return nil }
    self.init(high: words.high, low: words.low)
  }

  /// The same for a text in UTF-8.
  public init?(text: UnsafeBufferPointer<UInt8>) {
    guard let words = Self.words(in: text) else { return nil }
    self.init(high: words.high, low: words.low)
  }

  private static func words(in bytes: UnsafeBufferPointer<UInt8>) -> (high: UInt64, low: UInt64)? {
    guard bytes.count == textLength else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = hexValue(byte) else { return nil }
      if index < 18 { high = high << 4 | digit } else { low = low << 4 | digit }
    }
    return (high, low)
  }

  private static func hexValue(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// The form `8-4-4-4-12` in lower case.
  public var text: String {
    String(unsafeUninitializedCapacity: Self.textLength) { buffer in
      var index = 0
      for position in 0..<32 {
        if position == 8 || position == 12 || position == 16 || position == 20 {
          buffer[index] = UInt8(ascii: "-")
          index += 1
        }
        let word = position < 16 ? high : low
        let digit = UInt8(truncatingIfNeeded: word >> (60 - UInt64(position % 16) * 4)) & 0xf
        buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        index += 1
      }
      return index
    }
  }
}

// MARK: - Bytes

extension UUIDBytes {
  /// The number of bytes.
  public static let byteCount = 16

  /// - Returns: nil unless there are exactly sixteen bytes.
  @inlinable
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
    self.init(high: high, low: low)
  }

  /// The sixteen bytes in network order.
  public var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      for index in 0..<8 {
        let shift = UInt64(56 - index * 8)
        buffer[index] = UInt8(truncatingIfNeeded: high >> shift)
        buffer[index + 8] = UInt8(truncatingIfNeeded: low >> shift)
      }
      count = Self.byteCount
    }
  }
}
