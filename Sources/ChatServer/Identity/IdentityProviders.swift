import ChatDomain
import ChatPrimitives
package import Logging

/// Who may say who a user is, by ID tokens and by bearer tokens of its own.
package struct IdentityProviders: Sendable {
  private let providers: [TokenVerifier]
  private let external: TokenVerifier?

  package init(_ settings: IdentitySettings, fetcher: KeySetFetcher, logger: Logger) {
    providers = settings.providers.map { TokenVerifier($0, fetcher: fetcher, logger: logger) }
    external = settings.external.map { TokenVerifier($0, fetcher: fetcher, logger: logger) }
  }

  /// What a checked ID token tells.
  struct IdentifiedUser: Hashable {
    let identity: Identity
    let nickname: String?
  }

  /// - Throws: `Refusal.idTokenInvalid` or `.idTokenExpired`; `.issuerUnavailable` when the issuer's keys cannot be had.
  func user(inIDToken token: String, nonce: String?, at now: Timestamp) async throws -> IdentifiedUser {
    do {
      guard let unverified = UnverifiedToken(token) else { throw TokenFlaw.malformed }
      guard let provider = providers.first(where: { $0.issuer.issuer == unverified.issuer }) else {
        throw TokenFlaw.issuer
      }
      let claims = try await provider.verify(token, unverified, at: now)
      guard claims.iat != nil else { throw TokenFlaw.malformed }
      try TokenVerifier.check(nonce: nonce, in: claims, as: provider.issuer.nonce)
      return IdentifiedUser(
        identity: Identity(issuer: claims.iss, subject: claims.sub), nickname: claims.nickname ?? claims.name)
    } catch TokenFlaw.expired {
      throw Refusal.idTokenExpired
    } catch let flaw as TokenFlaw {
      throw Refusal.idTokenInvalid(flaw)
    }
  }

  /// What a checked bearer token of the team's own server tells.
  struct ExternalUser: Hashable {
    let externalID: String
    let nickname: String?
    /// With the leeway.
    let expiresAt: Timestamp
  }

  /// Whether the token says that it is the external issuer's; the server's own name no issuer.
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
