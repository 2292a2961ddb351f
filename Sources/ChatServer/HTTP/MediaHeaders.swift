import HTTPTypes

/// What goes with a file that a stranger has sent, so that no browser runs it.
enum MediaHeaders {
  /// A medium never changes. It is the user's alone to keep, for the next one may not see it.
  private static let caching = "private, max-age=31536000, immutable"
  /// A page that shows the file by itself loads nothing and runs nothing.
  private static let policy = "default-src 'none'; sandbox"
  /// What browsers show without running anything in it.
  private static let shown = ["image/", "audio/", "video/", "text/plain"]

  static func common(_ tag: EntityTag) -> HTTPFields {
    var headers: HTTPFields = [
      .eTag: tag.header, .cacheControl: caching, .contentSecurityPolicy: policy,
    ]
    // A cache that several users share must not give one what another may see.
    headers[.vary] = "Authorization"
    return headers
  }

  /// Whether it is shown or saved, and under which name (RFC 6266, with the form of RFC 8187).
  static func disposition(of type: String, name: String?) -> String {
    let kind = shown.contains { type.hasPrefix($0) } ? "inline" : "attachment"
    guard let name else { return kind }
    return "\(kind); filename*=UTF-8''" + encoded(name)
  }

  /// RFC 8187's `value-chars`: all but letters, digits and few marks percent-encoded.
  private static func encoded(_ name: String) -> String {
    name.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        byte < 0x80 && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte) || "-._~".utf8.contains(byte))
      let hex = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(scalar) : (byte < 16 ? "%0" : "%") + hex
    }.joined()
  }
}
