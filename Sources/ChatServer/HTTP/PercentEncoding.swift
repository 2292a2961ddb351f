/// Percent-encoding of a text for one segment of a path, or for `value-chars` of RFC 8187: all but letters, digits and a
/// few marks are encoded.
enum PercentEncoding {
  static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        byte < 0x80 && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte) || "-._~".utf8.contains(byte))
      let hex = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(scalar) : (byte < 16 ? "%0" : "%") + hex
    }.joined()
  }
}
