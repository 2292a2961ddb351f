import ChatDomain
import ChatPrimitives
package import Logging

/// The issuers whose tokens identify users: providers of ID tokens, and the external issuer of bearer tokens.
package struct IdentityProviders: Sendable {
  private let providers: [TokenVerifier]
  private let external: TokenVerifier?

  package init(_ settings: IdentitySettings, fetcher: KeySetFetcher, logger: Logger) {
    providers = settings.providers.map { TokenVerifier($0, fetcher: fetcher, logger: logger) }
    external = settings.external.map { TokenVerifier($0, fetcher: fetcher, logger: logger) }
  }

  /// The user whom a verified ID token identifies.
  struct IdentifiedUser: Hashable {
    let identity: Identity
    let nickname: String?
  }

  /// As `user(inIDToken:)`, for a request that cannot be undone: the user has just logged in.
  /// - Throws: also `Refusal.idTokenExpired` for a token that was issued more than `Limits.freshIDTokenMilliseconds` ago.
  func user(inFreshIDToken token: String, nonce: String?, at now: Timestamp) async throws -> IdentifiedUser {
    let oldest = now.adding(milliseconds: -Limits.freshIDTokenMilliseconds)
    return try await user(inIDToken: token, nonce: nonce, at: now, issuedSince: oldest)
  }

  /// - Throws: `Refusal.idTokenInvalid` or `.idTokenExpired`; `.issuerUnavailable` if the issuer's keys cannot be
  ///   fetched.
  func user(
    inIDToken token: String, nonce: String?, at now: Timestamp, issuedSince oldest: Timestamp = .earliest
  ) async throws -> IdentifiedUser {
    do {
      guard let unverified = UnverifiedToken(token) else { throw TokenFlaw.malformed }
      guard let provider = providers.first(where: { $0.issuer.issuer == unverified.issuer }) else {
        throw TokenFlaw.issuer
      }
      let claims = try await provider.verify(token, unverified, at: now)
      guard let issued = claims.iat else { throw TokenFlaw.malformed }
      guard issued * 1000 >= Double(oldest.milliseconds) else { throw TokenFlaw.expired }
      try TokenVerifier.check(nonce: nonce, in: claims, as: provider.issuer.nonce)
      return IdentifiedUser(
        identity: Identity(issuer: claims.iss, subject: claims.sub), nickname: claims.nickname ?? claims.name)
    } catch TokenFlaw.expired {
      throw Refusal.idTokenExpired
    } catch let flaw as TokenFlaw {
      throw Refusal.idTokenInvalid(flaw)
    }
  }

  /// The user whom a verified bearer token of the team's own server identifies.
  struct ExternalUser: Hashable {
    let externalID: String
    let nickname: String?
    /// Includes the leeway.
    let expiresAt: Timestamp
  }

  /// Whether the token claims to be from the external issuer. The server's own tokens have no issuer.
  func isExternal(_ unverified: UnverifiedToken) -> Bool {
    guard let external else { return false }
    return unverified.issuer == external.issuer.issuer
  }

  /// - Throws: `Refusal.accessTokenInvalid` or `.accessTokenExpired`; `.issuerUnavailable`.
  func user(
    inBearerToken token: String, _ unverified: UnverifiedToken, at now: Timestamp
  ) async throws -> ExternalUser {
    guard let external else { throw Refusal.accessTokenInvalid }
    do {
      let claims = try await external.verify(token, unverified, at: now)
      let expiry = ((claims.exp + TokenVerifier.leewaySeconds) * 1000).rounded(.down)
      return ExternalUser(
        externalID: claims.sub, nickname: claims.nickname ?? claims.name,
        expiresAt: Timestamp(milliseconds: Int64(exactly: expiry) ?? Timestamp.latest.milliseconds))
    } catch TokenFlaw.expired {
      throw Refusal.accessTokenExpired
    } catch is TokenFlaw {
      throw Refusal.accessTokenInvalid
    }
  }
}
