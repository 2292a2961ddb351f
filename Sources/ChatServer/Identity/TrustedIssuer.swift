import Foundation

/// The signature algorithms that are accepted in tokens of other issuers. No other is accepted, whatever a token or a
/// key says. In particular, algorithms with a shared secret and unsigned tokens are rejected.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
  case rs256 = "RS256"
  case es256 = "ES256"
  case edDSA = "EdDSA"
}

/// Another issuer whose tokens the operator has chosen to accept.
package struct TrustedIssuer: Sendable, Hashable {
  /// The `iss` of its tokens, compared byte for byte.
  package var issuer: String
  /// A token's audience (`aud`) must include one of these.
  package var audiences: [String]
  package var keys: KeyLocation
  package var algorithms: Set<SignatureAlgorithm>
  package var nonce = NonceForm.plain

  package init(issuer: String, audiences: [String], keys: KeyLocation, algorithms: Set<SignatureAlgorithm>) {
    self.issuer = issuer
    self.audiences = audiences
    self.keys = keys
    self.algorithms = algorithms
  }
}

/// The form in which the `nonce` of an ID token contains the app's nonce.
package enum NonceForm: String, Sendable, CaseIterable {
  /// The nonce itself.
  case plain
  /// The SHA-256 of the nonce in lower-case hexadecimal, which the app sent to the issuer.
  case sha256
}

/// Where an issuer publishes its public keys as a JWK set (RFC 7517, section 5).
package enum KeyLocation: Sendable, Hashable {
  case url(String)
  case file(String)

  /// Accepts an `https` URL, an `http` URL of this machine, or the path of a file.
  /// - Returns: nil for any other URL, because keys that are fetched without encryption could be forged.
  package init?(_ text: String) {
    guard text.contains("://") else {
      guard !text.isEmpty else { return nil }
      self = .file(text)
      return
    }
    guard let url = URL(string: text), let host = url.host, !host.isEmpty else { return nil }
    switch url.scheme?.lowercased() {
    case "https": break
    case "http": guard Self.loopbackHosts.contains(host) else { return nil }
    case .some, nil: return nil
    }
    self = .url(text)
  }

  private static let loopbackHosts: Set<String> = ["127.0.0.1", "::1", "[::1]", "localhost"]
}

/// The issuers whose tokens are accepted, besides this server.
package struct IdentitySettings: Sendable, Hashable {
  /// The issuers whose ID tokens log users in. No two have the same `issuer`.
  package var providers: [TrustedIssuer]
  /// The issuer of accepted bearer tokens: a team's own server.
  package var external: TrustedIssuer?

  package init(providers: [TrustedIssuer] = [], external: TrustedIssuer? = nil) {
    self.providers = providers
    self.external = external
  }
}
