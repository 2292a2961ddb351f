/// Standard Base64 with padding (RFC 4648, section 4). Only the canonical encoding of some bytes is accepted.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")
  /// The value of each character; 0xff if it is not in the alphabet.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xff, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  /// The length of the encoding of this many bytes.
  package static func encodedBytes(_ count: Int) -> Int { (count + 2) / 3 * 4 }

  package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
    text.reserveCapacity(text.count + encodedBytes(bytes.count))
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group: UInt32 = 0
      for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
      for index in 0..<4 {
        let value = Int(group >> (18 - 6 * UInt32(index)) & 0x3f)
        text.append(index <= count ? alphabet[value] : padding)
      }
    }
  }

  /// - Returns: nil unless the text is what `append` makes.
  package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    let padded = text.suffix(2).reversed().prefix { $0 == padding }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    for (offset, character) in text.dropLast(padded).enumerated() {
      let value = values[Int(character)]
      guard value != 0xff else { return nil }
      group = group << 6 | UInt32(value)
      if offset % 4 == 3 {
        bytes.append(UInt8(group >> 16 & 0xff))
        bytes.append(UInt8(group >> 8 & 0xff))
        bytes.append(UInt8(group & 0xff))
        group = 0
      }
    }
    switch padded {
    case 1:
      guard group & 0x3 == 0 else { return nil }
      bytes.append(UInt8(group >> 10 & 0xff))
      bytes.append(UInt8(group >> 2 & 0xff))
    case 2:
      guard group & 0xf == 0 else { return nil }
      bytes.append(UInt8(group >> 4 & 0xff))
    default: break
    }
    return bytes
  }
}
