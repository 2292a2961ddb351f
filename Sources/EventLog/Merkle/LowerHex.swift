/// Hexadecimal digits in lower case, two for each byte.
enum LowerHex {
  private static let digits = Array("0123456789abcdef".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[index * 2] = digits[Int(byte >> 4)]
        buffer[index * 2 + 1] = digits[Int(byte & 0xf)]
      }
      return bytes.count * 2
    }
  }

  /// - Returns: nil for an odd number of digits, or for anything that is not a digit in lower case.
  static func decode(_ text: String) -> [UInt8]? {
    let source = Array(text.utf8)
    guard source.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count / 2)
    for index in stride(from: 0, to: source.count, by: 2) {
      guard let high = value(source[index]), let low = value(source[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
