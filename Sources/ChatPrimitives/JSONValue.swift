/// A JSON value for output. Fields keep the order in which they are given.
package enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(UInt64)
  case signed(Int64)
  /// A number with two decimal places; `null` if it is not finite.
  case decimal(Double)
  case text(String)
  case list([JSONValue])
  case object([(String, JSONValue)])

  /// The text, or `null` if there is none.
  package static func text(orNull text: String?) -> JSONValue { text.map(JSONValue.text) ?? .null }

  package static func count(_ count: Int) -> JSONValue { .signed(Int64(count)) }
}

extension JSONValue {
  /// The JSON text (RFC 8259), on one line.
  package var encoded: String { String(decoding: bytes, as: UTF8.self) }

  /// The JSON text in UTF-8.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let value): bytes.append(contentsOf: String(value).utf8)
    case .signed(let value): bytes.append(contentsOf: String(value).utf8)
    case .decimal(let value):
      let rounded = (value * 100).rounded() / 100
      bytes.append(contentsOf: (rounded.isFinite ? String(rounded) : "null").utf8)
    case .text(let text): Self.write(text, to: &bytes)
    case .list(let items):
      bytes.append(UInt8(ascii: "["))
      for (index, item) in items.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        item.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let fields):
      bytes.append(UInt8(ascii: "{"))
      for (index, field) in fields.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(field.0, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        field.1.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Escapes what RFC 8259 requires, and also the control characters from U+007F to U+009F: texts come from untrusted
  /// clients, and some terminals interpret these characters.
  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { text in
      // What needs no escape is added in pieces, because adding single bytes takes several times as long.
      var start = 0
      for (index, byte) in text.enumerated() {
        guard let escape = escape(byte, after: index > 0 ? text[index - 1] : 0) else { continue }
        // The code of a control character from U+0080 on is its second byte.
        bytes.append(contentsOf: text[start..<(byte < 0x80 ? index : index - 1)])
        bytes.append(contentsOf: escape)
        start = index + 1
      }
      bytes.append(contentsOf: text[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// - Returns: nil if the byte is written as it is.
  private static func escape(_ byte: UInt8, after lead: UInt8) -> [UInt8]? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "\n"): Array("\\n".utf8)
    case UInt8(ascii: "\r"): Array("\\r".utf8)
    case UInt8(ascii: "\t"): Array("\\t".utf8)
    case 0x00..<0x20, 0x7f: codeEscape(byte)
    case 0x80...0x9f where lead == 0xc2: codeEscape(byte)
    default: nil
    }
  }

  private static func codeEscape(_ code: UInt8) -> [UInt8] {
    Array("\\u00".utf8)
      + [code >> 4, code & 0xf].map { digit in
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      }
  }
}
