import HTTPTypes

/// The headers for a file that a client uploaded. They keep browsers from running it.
enum MediaHeaders {
  /// A file never changes, so clients may keep it: under its own URL for a year, under a signed URL until that expires.
  /// Shared caches may not keep it, because the next user may not be allowed to see it, and because a user who may no
  /// longer see it must not get it from them.
  private static func caching(seconds: Int64) -> String { "private, max-age=\(seconds), immutable" }
  private static let secondsOfYear: Int64 = 31_536_000
  /// If a browser shows the file as a page, the page loads nothing and runs nothing.
  private static let policy = "default-src 'none'; sandbox"
  /// The types that browsers show without running anything in them.
  private static let shown = ["image/", "audio/", "video/", "text/plain"]

  /// - Parameter validSeconds: how long the URL is valid; nil if it does not expire.
  static func common(_ tag: EntityTag, validSeconds: Int64?) -> HTTPFields {
    var headers: HTTPFields = [
      .eTag: tag.header, .cacheControl: caching(seconds: validSeconds ?? secondsOfYear),
      .contentSecurityPolicy: policy,
    ]
    // A cache that several users share must not give one user what only another may see.
    headers[.vary] = "Authorization"
    return headers
  }

  /// Whether browsers show or save the file, and under which name (RFC 6266, encoded as in RFC 8187).
  static func disposition(of type: String, name: String?) -> String {
    let kind = shown.contains { type.hasPrefix($0) } ? "inline" : "attachment"
    guard let name else { return kind }
    return "\(kind); filename*=UTF-8''" + PercentEncoding.encode(name)
  }
}
