/// Checks JSON texts (RFC 8259) without decoding them, and finds the parts of a Socket.IO payload. A payload for many
/// clients, or one that is echoed, keeps its bytes.
///
/// The bytes are valid UTF-8, because they come from a text message. Lone surrogates in escapes are accepted, as in
/// JavaScript.
struct JSONScanner {
  struct Malformed: Error, Equatable {}

  /// Marks an object that stands for a binary attachment, and names the attachment.
  private static let placeholderKey = Array("_placeholder".utf8)
  private static let numberKey = Array("num".utf8)

  private let bytes: [UInt8]
  private var index: Int
  private var depth: Int
  /// The attachments that placeholders name, in the order of the text; nil if one names none.
  private(set) var placeholders: [Int?] = []

  /// - Parameter depth: how deep arrays and objects can be nested.
  init(_ bytes: [UInt8], from start: Int = 0, depth: Int) {
    self.bytes = bytes
    index = start
    self.depth = depth
  }

  /// Reads an array that is the rest of the text, and returns where its elements are.
  mutating func elements(maximum: Int) throws(Malformed) -> [Range<Int>] {
    skipSpace()
    guard depth > 0 else { throw Malformed() }
    depth -= 1
    try expect(UInt8(ascii: "["))
    var elements: [Range<Int>] = []
    skipSpace()
    if take(UInt8(ascii: "]")) {
      try end()
      return elements
    }
    repeat {
      guard elements.count < maximum else { throw Malformed() }
      skipSpace()
      let start = index
      try value()
      elements.append(start..<index)
      skipSpace()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
    try end()
    return elements
  }

  /// Reads an object that is the rest of the text.
  mutating func object() throws(Malformed) {
    skipSpace()
    guard peek == UInt8(ascii: "{") else { throw Malformed() }
    try value()
    try end()
  }

  private mutating func end() throws(Malformed) {
    skipSpace()
    guard index == bytes.count else { throw Malformed() }
  }

  // MARK: Values

  private mutating func value() throws(Malformed) {
    switch peek {
    case UInt8(ascii: "{"): try nested(UInt8(ascii: "}")) { (scanner) throws(Malformed) in try scanner.fields() }
    case UInt8(ascii: "["): try nested(UInt8(ascii: "]")) { (scanner) throws(Malformed) in try scanner.items() }
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func nested(
    _ close: UInt8, _ content: (inout JSONScanner) throws(Malformed) -> Void
  ) throws(Malformed) {
    guard depth > 0 else { throw Malformed() }
    depth -= 1
    index += 1
    skipSpace()
    if !take(close) {
      try content(&self)
      try expect(close)
    }
    depth += 1
  }

  private mutating func items() throws(Malformed) {
    repeat {
      skipSpace()
      try value()
      skipSpace()
    } while take(UInt8(ascii: ","))
  }

  private mutating func fields() throws(Malformed) {
    var isPlaceholder = false
    var attachment: Int?
    repeat {
      skipSpace()
      let key = Self.unescaped(bytes[try string()])
      skipSpace()
      try expect(UInt8(ascii: ":"))
      skipSpace()
      let start = index
      try value()
      // As in JavaScript, the last of several fields with the same name counts.
      if key == Self.placeholderKey { isPlaceholder = bytes[start..<index].elementsEqual("true".utf8) }
      if key == Self.numberKey { attachment = Int(String(decoding: bytes[start..<index], as: UTF8.self)) }
      skipSpace()
    } while take(UInt8(ascii: ","))
    if isPlaceholder { placeholders.append(attachment) }
  }

  /// Reads a string and returns the range between its quotes.
  private mutating func string() throws(Malformed) -> Range<Int> {
    try expect(UInt8(ascii: "\""))
    let start = index
    while let byte = peek {
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return start..<(index - 1)
      case UInt8(ascii: "\\"): try escape()
      case 0x00..<0x20: throw Malformed()
      default: break
      }
    }
    throw Malformed()
  }

  private mutating func escape() throws(Malformed) {
    guard let byte = peek else { throw Malformed() }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      break
    case UInt8(ascii: "u"):
      for _ in 0..<4 {
        guard let digit = peek, Self.hexadecimal(digit) != nil else { throw Malformed() }
        index += 1
      }
    default: throw Malformed()
    }
  }

  private mutating func number() throws(Malformed) {
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
  }

  private mutating func digits() throws(Malformed) {
    let start = index
    while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
    guard index > start else { throw Malformed() }
  }

  private mutating func word(_ word: String) throws(Malformed) {
    guard bytes[index...].starts(with: word.utf8) else { throw Malformed() }
    index += word.utf8.count
  }

  // MARK: Bytes

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    index += 1
    return true
  }

  private mutating func expect(_ byte: UInt8) throws(Malformed) {
    guard take(byte) else { throw Malformed() }
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { index += 1 }
  }
}

extension JSONScanner {
  static func hexadecimal(_ digit: UInt8) -> UInt16? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(digit - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(digit - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// The UTF-8 of a string's content that was checked. A lone surrogate becomes U+FFFD.
  static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] {
    guard content.contains(UInt8(ascii: "\\")) else { return Array(content) }
    var text: [UInt8] = []
    var units: [UInt16] = []
    var rest = content
    func flush() {
      text.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
      units = []
    }
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let kind = rest.popFirst() else {
        flush()
        text.append(byte)
        continue
      }
      switch kind {
      case UInt8(ascii: "u"):
        units.append(rest.prefix(4).reduce(0) { $0 << 4 | (hexadecimal($1) ?? 0) })
        rest = rest.dropFirst(4)
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0c)
      case UInt8(ascii: "n"): units.append(0x0a)
      case UInt8(ascii: "r"): units.append(0x0d)
      case UInt8(ascii: "t"): units.append(0x09)
      default: units.append(UInt16(kind))
      }
    }
    flush()
    return text
  }

  /// A string as JSON, with its quotes.
  static func quoted(_ text: String) -> [UInt8] {
    var bytes = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x00..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 0xf)])
      default: bytes.append(byte)
      }
    }
    return bytes + [UInt8(ascii: "\"")]
  }
}
