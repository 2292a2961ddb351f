/// Extracts the strings and numbers from a JSON value, without the names of object members. These are what users search
/// for.
struct JSONWords {
  private let bytes: [UInt8]
  private var index = 0
  private var found: [UInt8] = []

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The values in their order, each on its own line. Invalid JSON is read as far as possible.
  static func values(of json: String) -> [UInt8] {
    var words = JSONWords(Array(json.utf8))
    words.run()
    return words.found
  }

  private mutating func run() {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""): takeString()
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): takeNumber()
      default: index += 1
      }
    }
  }

  private mutating func takeNumber() {
    while index < bytes.count, Self.numberBytes.contains(bytes[index]) {
      found.append(bytes[index])
      index += 1
    }
    found.append(IndexedText.betweenParts)
  }

  private static let numberBytes = Set("+-.0123456789eE".utf8)

  private mutating func takeString() {
    let start = found.count
    index += 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      if bytes[index] == UInt8(ascii: "\\") { takeEscape() } else { takeByte() }
    }
    index += 1
    var next = index
    while next < bytes.count, Self.blanks.contains(bytes[next]) { next += 1 }
    if next < bytes.count, bytes[next] == UInt8(ascii: ":") {
      // This string is a member's name.
      found.removeSubrange(start...)
    } else {
      found.append(IndexedText.betweenParts)
    }
  }

  private static let blanks = Set(" \t\r\n".utf8)

  private mutating func takeByte() {
    found.append(bytes[index])
    index += 1
  }

  /// Decodes an escape sequence (RFC 8259, section 7).
  private mutating func takeEscape() {
    index += 1
    guard index < bytes.count else { return }
    switch bytes[index] {
    case UInt8(ascii: "u"): takeUnicodeEscape()
    case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      found.append(UInt8(ascii: " "))
      index += 1
    default: takeByte()
    }
  }

  private mutating func takeUnicodeEscape() {
    guard let first = hexUnit(at: index + 1) else {
      index += 1
      return
    }
    index += 5
    var units = [first]
    if UTF16.isLeadSurrogate(first), index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u"), let second = hexUnit(at: index + 2)
    {
      units.append(second)
      index += 6
    }
    found.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
  }

  private func hexUnit(at start: Int) -> UInt16? {
    guard start + 4 <= bytes.count else { return nil }
    return UInt16(String(decoding: bytes[start..<start + 4], as: UTF8.self), radix: 16)
  }
}
