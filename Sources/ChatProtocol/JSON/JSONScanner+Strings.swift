import ChatPrimitives

extension JSONScanner {
  /// Scans a string with its quotes. It must be valid UTF-8 without control characters, with only the escapes of RFC
  /// 8259, with complete surrogate pairs, and with few combining marks in a row, whether they are escaped or not.
  mutating func string() throws(JSONFlaw) {
    index += 1
    let start = index
    var kind = Node.Kind.string
    var marks = CombiningMarks()
    while index < text.count {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "\""):
        add(kind, start, index)
        index += 1
        return
      case UInt8(ascii: "\\"):
        kind = .escapedString
        guard marks.take(try escape()) else { throw .tooManyMarks }
      case 0..<0x20: throw malformed("a control character is not escaped")
      case 0x20..<0x80:
        marks.reset()
        index += 1
      default:
        guard marks.take(try scalar()) else { throw .tooManyMarks }
      }
    }
    throw malformed("a string is not terminated")
  }

  /// Scans one character of two bytes or more, by the table of well-formed sequences (Unicode 16, table 3-7).
  private mutating func scalar() throws(JSONFlaw) -> Unicode.Scalar {
    let lead = text[index]
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xbf
    switch lead {
    case 0xc2...0xdf: length = 2
    case 0xe0: (length, second) = (3, 0xa0...0xbf)
    case 0xed: (length, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: length = 3
    case 0xf0: (length, second) = (4, 0x90...0xbf)
    case 0xf1...0xf3: length = 4
    case 0xf4: (length, second) = (4, 0x80...0x8f)
    default: throw .invalidUTF8
    }
    guard index + length <= text.count, second.contains(text[index + 1]) else { throw .invalidUTF8 }
    var value = UInt32(lead) & (0x7f >> UInt32(length))
    for offset in 1..<length {
      let byte = text[index + offset]
      guard byte & 0xc0 == 0x80 else { throw .invalidUTF8 }
      value = value << 6 | UInt32(byte & 0x3f)
    }
    guard let scalar = Unicode.Scalar(value) else { throw .invalidUTF8 }
    index += length
    return scalar
  }

  /// Scans a backslash and what follows it.
  private mutating func escape() throws(JSONFlaw) -> Unicode.Scalar {
    index += 1
    guard index < text.count else { throw malformed("an escape sequence is incomplete") }
    switch text[index] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      index += 1
      return " "
    case UInt8(ascii: "u"):
      let first = try unit()
      if let scalar = Unicode.Scalar(first) { return scalar }
      guard UTF16.isLeadSurrogate(first), take(UInt8(ascii: "\\")), index < text.count,
        text[index] == UInt8(ascii: "u")
      else { throw malformed("half of a surrogate pair is missing") }
      let second = try unit()
      guard UTF16.isTrailSurrogate(second), let scalar = Unicode.Scalar(JSONEscapes.value(first, second)) else {
        throw malformed("half of a surrogate pair is missing")
      }
      return scalar
    default: throw malformed("unknown escape sequence")
    }
  }

  /// Scans the four digits after the `u` at the current index.
  private mutating func unit() throws(JSONFlaw) -> UInt16 {
    guard index + 4 < text.count, let unit = JSONEscapes.unit(text[(index + 1)..<(index + 5)]) else {
      throw malformed("a \\u escape needs four hexadecimal digits")
    }
    index += 5
    return unit
  }
}
