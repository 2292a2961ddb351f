/// The link that an invite is shared as. It contains the token, and opening it opens the app.
package struct DeepLink: Sendable, Hashable {
  /// The placeholder for the token in the form.
  package static let placeholder = "{token}"
  package static let `default` = DeepLink(prefix: "hansard://invite/", suffix: "")

  private let prefix: String
  private let suffix: String

  private init(prefix: String, suffix: String) {
    self.prefix = prefix
    self.suffix = suffix
  }

  /// Parses a form such as `myapp://invite/{token}` or `https://example.org/i/{token}?from=chat`.
  /// - Returns: nil unless the form has a scheme, the placeholder exactly once after it, and only characters that are
  ///   allowed in a URI (RFC 3986, section 2).
  package init?(_ form: String) {
    let parts = form.split(separator: Self.placeholder, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let colon = parts[0].firstIndex(of: ":") else { return nil }
    let scheme = parts[0][..<colon]
    guard let first = scheme.unicodeScalars.first, Self.isLetter(first),
      scheme.unicodeScalars.allSatisfy({ Self.isLetter($0) || "0123456789+-.".unicodeScalars.contains($0) }),
      (parts[0] + parts[1]).unicodeScalars.allSatisfy(Self.isAllowedInURI)
    else { return nil }
    self.init(prefix: parts[0], suffix: parts[1])
  }

  package var form: String { prefix + Self.placeholder + suffix }

  /// A token is URL-safe base64, so it goes into a link as it is.
  package func link(for token: String) -> String { prefix + token + suffix }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  private static func isAllowedInURI(_ scalar: Unicode.Scalar) -> Bool {
    isLetter(scalar) || "0123456789-._~:/?#[]@!$&'()*+,;=%".unicodeScalars.contains(scalar)
  }
}
