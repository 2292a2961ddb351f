/// Reads and writes the escapes of JSON strings (RFC 8259, section 7).
package enum JSONEscapes {
  // MARK: - Reading

  /// Parses four hexadecimal digits as a UTF-16 code unit; nil for anything else.
  static func unit(_ digits: some Collection<UInt8>) -> UInt16? {
    var value: UInt16 = 0
    for digit in digits {
      let nibble: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): nibble = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): nibble = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): nibble = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      value = value << 4 | UInt16(nibble)
    }
    return value
  }

  /// The code point that a surrogate pair encodes.
  static func value(_ lead: UInt16, _ trail: UInt16) -> UInt32 {
    0x10000 + (UInt32(lead & 0x3ff) << 10 | UInt32(trail & 0x3ff))
  }

  /// The bytes between the quotes of a scanned string, with escapes resolved.
  static func resolved(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var resolved: [UInt8] = []
    resolved.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      guard bytes[index] == UInt8(ascii: "\\") else {
        resolved.append(bytes[index])
        index += 1
        continue
      }
      let kind = bytes[index + 1]
      index += 2
      switch kind {
      case UInt8(ascii: "b"): resolved.append(0x08)
      case UInt8(ascii: "f"): resolved.append(0x0c)
      case UInt8(ascii: "n"): resolved.append(0x0a)
      case UInt8(ascii: "r"): resolved.append(0x0d)
      case UInt8(ascii: "t"): resolved.append(0x09)
      case UInt8(ascii: "u"):
        let first = unit(bytes[index..<index + 4]) ?? 0
        index += 4
        var value = UInt32(first)
        if UTF16.isLeadSurrogate(first) {
          value = self.value(first, unit(bytes[index + 2..<index + 6]) ?? 0)
          index += 6
        }
        resolved.append(contentsOf: String(Character(Unicode.Scalar(value) ?? "\u{fffd}")).utf8)
      default: resolved.append(kind)
      }
    }
    return resolved
  }

  // MARK: - Writing

  /// Writes a string with its quotes and with the fewest escapes that RFC 8259 allows.
  package static func write(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { write($0, to: &bytes) }
  }

  package static func write(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    for index in 0..<text.count {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
      bytes.append(contentsOf: text[start..<index])
      start = index + 1
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case 0x08: bytes.append(UInt8(ascii: "b"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      case 0x0a: bytes.append(UInt8(ascii: "n"))
      case 0x0c: bytes.append(UInt8(ascii: "f"))
      case 0x0d: bytes.append(UInt8(ascii: "r"))
      case 0..<0x20:
        bytes.append(contentsOf: "u00".utf8)
        bytes.append(hexDigit(byte >> 4))
        bytes.append(hexDigit(byte & 0xf))
      default: bytes.append(byte)
      }
    }
    bytes.append(contentsOf: text[start..<text.count])
    bytes.append(UInt8(ascii: "\""))
  }

  private static func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }
}
