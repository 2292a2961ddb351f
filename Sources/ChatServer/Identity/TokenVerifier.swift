import ChatPrimitives
import Crypto
import Foundation
import JWTKit
import Logging

/// Verifies the tokens of one issuer: the signature with a key that the issuer publishes, and the claims.
struct TokenVerifier: Sendable {
  /// How far the issuer's clock may differ, in seconds.
  static let leewaySeconds: Double = 60
  /// The longest subject, in bytes. The subject is stored in the log.
  static let subjectBytes = Limits.externalIDBytes

  let issuer: TrustedIssuer
  private let keys: IssuerKeys

  init(_ issuer: TrustedIssuer, fetcher: KeySetFetcher, logger: Logger) {
    self.issuer = issuer
    keys = IssuerKeys(issuer.keys, fetcher: fetcher, logger: logger)
  }

  /// - Throws: a `TokenFlaw`, or `Refusal.issuerUnavailable` if the issuer's keys cannot be fetched.
  func verify(_ token: String, _ unverified: UnverifiedToken, at now: Timestamp) async throws -> IssuedClaims {
    guard !unverified.hasExtensions, let algorithm = SignatureAlgorithm(rawValue: unverified.algorithm),
      issuer.algorithms.contains(algorithm)
    else { throw TokenFlaw.algorithm }
    guard let key = try await keys.key(unverified.keyID, for: algorithm, at: now) else { throw TokenFlaw.unknownKey }
    let claims: IssuedClaims
    do {
      claims = try await key.verifier.verify(token, as: IssuedClaims.self)
    } catch let error as JWTError where error.errorType == .malformedToken {
      // The signature is valid, but the claims do not have the required form.
      throw TokenFlaw.malformed
    } catch {
      throw TokenFlaw.signature
    }
    try Self.check(claims, of: issuer, at: now)
    return claims
  }

  static func check(_ claims: IssuedClaims, of issuer: TrustedIssuer, at now: Timestamp) throws(TokenFlaw) {
    guard Array(claims.iss.utf8) == Array(issuer.issuer.utf8) else { throw .issuer }
    guard claims.aud.values.contains(where: { issuer.audiences.contains($0) }) else { throw .audience }
    let seconds = Double(now.milliseconds) / 1000
    guard claims.exp.isFinite, seconds < claims.exp + leewaySeconds else { throw .expired }
    for start in [claims.nbf, claims.iat].compactMap({ $0 }) {
      guard start.isFinite, start - leewaySeconds <= seconds else { throw .notYetValid }
    }
    guard !claims.sub.isEmpty, claims.sub.utf8.count <= subjectBytes,
      !claims.sub.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { throw .subject }
  }

  /// A token with a nonce was requested by one app for one login, and is not accepted without the nonce.
  /// - Parameters:
  ///   - given: the nonce that the app sent; nil if it sent none.
  ///   - form: the configured form of the claim. The other form is rejected: if both were accepted, anyone
  ///     who obtains a token with a hashed nonce could send that hash as the nonce.
  static func check(nonce given: String?, in claims: IssuedClaims, as form: NonceForm) throws(TokenFlaw) {
    if given == nil, claims.nonce == nil { return }
    guard let given, !given.isEmpty, let held = claims.nonce else { throw .nonce }
    switch form {
    case .plain: guard Array(held.utf8) == Array(given.utf8) else { throw .nonce }
    case .sha256: guard held == digest(of: given) else { throw .nonce }
    }
  }

  private static func digest(of text: String) -> String {
    Hexadecimal.text(SHA256.hash(data: Array(text.utf8)))
  }
}
