/// Checks UTF-8 that arrives in parts, which can end within a character. It follows table 3-7 of the Unicode standard,
/// so overlong forms, surrogates and values above U+10FFFF are invalid.
package struct IncrementalUTF8: Equatable, Sendable {
  /// The continuation bytes that the current character still needs.
  private var missing: UInt8 = 0
  /// The range of the next continuation byte. Only the first one of a character can have a narrower range.
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xbf

  package init() {}

  /// Whether the bytes so far end between two characters.
  package var isComplete: Bool { missing == 0 }

  /// - Returns: false if the bytes are invalid, whatever follows. After that the value must not be used any more.
  package mutating func accept(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { accept($0) }
  }

  private mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < bytes.count {
      if missing == 0 {
        index = Self.endOfASCII(in: bytes, from: index)
        if index == bytes.count { return true }
      }
      guard accept(bytes[index]) else { return false }
      index += 1
    }
    return true
  }

  /// The index of the first byte from `start` on that is not ASCII. Most text is ASCII, so this reads eight bytes at once.
  private static func endOfASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    while index + 8 <= bytes.count,
      bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    {
      index += 8
    }
    while index < bytes.count, bytes[index] < 0x80 { index += 1 }
    return index
  }

  private mutating func accept(_ byte: UInt8) -> Bool {
    if missing > 0 {
      guard byte >= lowest, byte <= highest else { return false }
      missing -= 1
      (lowest, highest) = (0x80, 0xbf)
      return true
    }
    switch byte {
    case 0x00...0x7f: break
    case 0xc2...0xdf: missing = 1
    case 0xe0: (missing, lowest) = (2, 0xa0)
    case 0xed: (missing, highest) = (2, 0x9f)
    case 0xe1...0xef: missing = 2
    case 0xf0: (missing, lowest) = (3, 0x90)
    case 0xf1...0xf3: missing = 3
    case 0xf4: (missing, highest) = (3, 0x8f)
    default: return false
    }
    return true
  }
}

extension IncrementalUTF8 {
  /// Whether these bytes are valid as a whole.
  package static func isValid(_ bytes: [UInt8]) -> Bool {
    var check = IncrementalUTF8()
    return check.accept(bytes) && check.isComplete
  }
}
