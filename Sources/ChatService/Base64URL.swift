import Foundation

/// Base64 for URLs (RFC 4648, section 5), without padding.
package enum Base64URL {
  package static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: characters(of: Data(bytes)), as: UTF8.self)
  }

  /// Checks the length first, because anyone may send a text of any length and with any characters.
  /// - Parameter limit: the maximum number of decoded bytes.
  /// - Returns: nil if there are more bytes, or if the text is not exactly what `encode` would return.
  package static func decode(_ text: some StringProtocol, atMost limit: Int) -> [UInt8]? {
    let text = Array(text.utf8.prefix((limit * 4 + 2) / 3 + 1))
    guard text.count <= (limit * 4 + 2) / 3 else { return nil }
    // An array, because adding single bytes to `Data` takes several times as long as the decoding.
    var standard = text.map { character in
      switch character {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: character
      }
    }
    standard += repeatElement(padding, count: (4 - text.count % 4) % 4)
    guard let bytes = Data(base64Encoded: Data(standard)), characters(of: bytes) == text else { return nil }
    return Array(bytes)
  }

  private static let padding = UInt8(ascii: "=")

  private static func characters(of bytes: Data) -> [UInt8] {
    Array(bytes.base64EncodedData()).compactMap { character -> UInt8? in
      switch character {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case padding: nil
      default: character
      }
    }
  }
}
