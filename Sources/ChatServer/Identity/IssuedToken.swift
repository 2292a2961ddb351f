import ChatProtocol
import ChatService
import Crypto
import JWTKit

/// The claims of a token of another issuer (RFC 7519, section 4; OpenID Connect Core 1.0, section 2). Times are in
/// seconds since 1970.
struct IssuedClaims: JWTPayload {
  var iss: String
  var sub: String
  var aud: Audience
  var exp: Double
  var nbf: Double?
  var iat: Double?
  var nonce: String?
  var name: String?
  var nickname: String?

  /// `TokenVerifier` checks the claims, because it knows the issuer and the time.
  func verify(using algorithm: some JWTAlgorithm) throws {}
}

/// The audience of a token: a string or an array of strings. JWTKit's own type crashes the process on an empty array.
struct Audience: Codable, Sendable, Hashable {
  let values: [String]

  init(_ values: [String]) {
    self.values = values
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let one = try? container.decode(String.self) {
      values = [one]
    } else {
      values = try container.decode([String].self)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(values)
  }
}

/// The contents of a token before verification: enough to find the key, but not to be trusted.
struct UnverifiedToken: Sendable {
  /// The longest token that is parsed, in bytes.
  static let byteLimit = 16 * 1024
  /// The longest header, in bytes. A header contains the algorithm, the key's ID and little else.
  private static let headerBytes = 1024

  let algorithm: String
  let keyID: String?
  /// The header has `crit`, which requires extensions that this server does not support.
  let hasExtensions: Bool
  let issuer: String?

  private struct Header: Decodable {
    let alg: String
    let kid: String?
    let hasExtensions: Bool

    private enum CodingKeys: String, CodingKey {
      case alg, kid, crit
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      alg = try container.decode(String.self, forKey: .alg)
      kid = try container.decodeIfPresent(String.self, forKey: .kid)
      hasExtensions = container.contains(.crit)
    }
  }

  private struct Claims: Decodable {
    let iss: String?
  }

  /// - Returns: nil if it does not have the form of a signed JWT.
  init?(_ token: String) {
    guard token.utf8.count <= Self.byteLimit else { return nil }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0], atMost: Self.headerBytes),
      let claims = Base64URL.decode(parts[1], atMost: Self.byteLimit),
      // Nothing has been verified yet. `JSONDocument` rejects text that is expensive to decode, so later decoders never
      // see it.
      let header = try? JSONDocument(header).decode(Header.self),
      let claims = try? JSONDocument(claims).decode(Claims.self)
    else { return nil }
    algorithm = header.alg
    keyID = header.kid
    hasExtensions = header.hasExtensions
    issuer = claims.iss
  }
}

/// Why a token of another issuer is rejected.
enum TokenFlaw: Error, Hashable, CaseIterable {
  case malformed
  case algorithm
  case unknownKey
  case signature
  case issuer
  case audience
  case expired
  case notYetValid
  case nonce
  case subject

  /// Written for the client that sent the token.
  var detail: String {
    switch self {
    case .malformed: "it is not a signed JWT with the claims iss, sub, aud and exp"
    case .algorithm: "its algorithm is not allowed for this issuer"
    case .unknownKey: "its key is not among the keys of the issuer"
    case .signature: "its signature is invalid"
    case .issuer: "its issuer is not configured on this server"
    case .audience: "its audience (aud) is not allowed on this server"
    case .expired: "it has expired"
    case .notYetValid: "it is not valid yet"
    case .nonce: "its nonce does not match the one in the request, or one of them is missing"
    case .subject: "it has no subject (sub)"
    }
  }
}
