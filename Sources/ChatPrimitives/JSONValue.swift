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
    var lead: UInt8 = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
      case 0x00..<0x20, 0x7f: escape(byte, to: &bytes)
      case 0x80...0x9f where lead == 0xc2:
        bytes.removeLast()
        escape(byte, to: &bytes)
      default: bytes.append(byte)
      }
      lead = byte
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func escape(_ code: UInt8, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "\\u00".utf8)
    for digit in [code >> 4, code & 0xf] {
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}
