/// Bytes as hexadecimal digits in lower case, two for each byte.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xf)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// - Returns: nil for an odd number of digits, or for any character that is not a digit in lower case.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let source = Array(text.utf8)
    guard source.count.isMultiple(of: 2) else { return nil }
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
