import Foundation

/// Base64 for URLs (RFC 4648, section 5), without padding.
package enum Base64URL {
  package static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  /// - Returns: nil unless the text is exactly what `encode` would make.
  package static func decode(_ text: String) -> [UInt8]? {
    let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padded = standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: padded) else { return nil }
    let bytes = Array(data)
    return encode(bytes) == text ? bytes : nil
  }
}
