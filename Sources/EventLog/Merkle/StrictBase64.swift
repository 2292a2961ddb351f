private import FoundationEssentials

/// Standard Base64 with padding (RFC 4648, section 4). Accepts only the canonical encoding, because a signed text must
/// have only one representation.
enum StrictBase64 {
  static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
  }

  /// - Returns: nil unless the text is exactly the result of `encode`.
  static func decode(_ text: String) -> [UInt8]? {
    guard let data = Data(base64Encoded: text) else { return nil }
    let bytes = [UInt8](data)
    // Foundation ignores unused bits that are not zero.
    return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
  }
}
