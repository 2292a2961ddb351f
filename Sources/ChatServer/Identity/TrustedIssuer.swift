import Foundation

/// The signatures that a token of another issuer may have. Whatever a token or a key says, no other is accepted: none
/// that needs a shared secret, and not the lack of one.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
  case rs256 = "RS256"
  case es256 = "ES256"
  case edDSA = "EdDSA"
}

/// Someone else whose tokens are taken, as the operator says.
package struct TrustedIssuer: Sendable, Hashable {
  /// The `iss` of its tokens, byte for byte.
  package var issuer: String
  /// A token must be meant for one of these (`aud`).
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

/// How the `nonce` of an ID token holds what the app knows.
package enum NonceForm: String, Sendable, CaseIterable {
  /// As it is.
  case plain
  /// Its SHA-256 in hexadecimal, in lower case: the app gave the issuer that.
  case sha256
}

/// Where an issuer's public keys are found, as a JWK set (RFC 7517, section 5).
package enum KeyLocation: Sendable, Hashable {
  case url(String)
  case file(String)

  /// A URL with `https`, one with `http` of this very machine, or else the path of a file.
  /// - Returns: nil for a URL that is neither: keys that came over an open wire could be anybody's.
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

/// What of other issuers' tokens is taken.
package struct IdentitySettings: Sendable, Hashable {
  /// Whose ID tokens log users in. No two have the same `issuer`.
  package var providers: [TrustedIssuer]
  /// Whose tokens are bearer tokens here: a team's own server.
  package var external: TrustedIssuer?

  package init(providers: [TrustedIssuer] = [], external: TrustedIssuer? = nil) {
    self.providers = providers
    self.external = external
  }
}
