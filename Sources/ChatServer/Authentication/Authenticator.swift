import ChatDomain
import ChatPrimitives
import ChatProtocol
package import ChatService
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Determines from the headers of a request who makes it.
package final class Authenticator: Sendable {
  /// The most users that are remembered as registered, in whose name a service has acted.
  private static let rememberedUsers = 65_536
  /// How long a token of an external issuer counts as verified. A key that the issuer withdraws is noticed after this
  /// time.
  private static let externalCheck = Duration.seconds(300)

  private let issuer: TokenIssuer
  private let administrator: AdministratorToken
  private let identities: IdentityProviders
  let chat: ChatService
  private let remembered = Mutex(VerifiedTokenCache())
  private let registered = Mutex<Set<UserID>>([])

  package init(
    issuer: TokenIssuer, administrator: AdministratorToken, identities: IdentityProviders, chat: ChatService
  ) {
    self.issuer = issuer
    self.administrator = administrator
    self.identities = identities
    self.chat = chat
  }

  /// - Returns: who makes the request; nil if the endpoint is open and the request has no service token, or if the
  ///   endpoint ignores tokens.
  func caller(_ credentials: Credentials, for endpoint: AnyEndpoint, at now: Timestamp) async throws -> Caller? {
    let access = endpoint.access
    if !endpoint.ignoresTokens, let actAs = credentials.actAs, UserID(actAs) == nil { throw Refusal.invalidActAs }
    if access == .open {
      guard !endpoint.ignoresTokens, let token = try? bearerToken(in: credentials),
        token.hasPrefix(AdministratorToken.prefix)
      else { return nil }
      return try await service(token, credentials, for: endpoint)
    }
    guard let token = try bearerToken(in: credentials) else { throw Refusal.accessTokenMissing }
    let caller =
      token.hasPrefix(AdministratorToken.prefix)
      ? try await service(token, credentials, for: endpoint) : try await user(token, credentials, now)
    switch access {
    case .open, .userOrService: return caller
    case .user:
      guard caller.principal.user != nil else { throw Refusal.actingUserRequired }
      return caller
    case .service:
      guard caller.principal.service != nil else { throw ServiceError.rejected(.serviceOnly) }
      return caller
    }
  }

  /// Whether the request has a valid service token.
  func isOfService(_ request: Request) -> Bool { isOfService(Credentials(of: request)) }

  func isOfService(_ credentials: Credentials) -> Bool {
    // Checks the prefix by bytes first, because nearly every request comes from a user.
    guard let header = credentials.authorization,
      header.utf8.dropFirst("Bearer ".utf8.count).starts(with: AdministratorToken.prefix.utf8),
      let token = try? bearerToken(in: credentials)
    else { return false }
    return administrator.matches(token)
  }

  private func bearerToken(in credentials: Credentials) throws(Refusal) -> String? {
    guard let header = credentials.authorization else { return nil }
    return try BearerToken.token(in: header)
  }

  private func service(
    _ token: String, _ credentials: Credentials, for endpoint: AnyEndpoint
  ) async throws -> Caller {
    guard administrator.matches(token) else { throw Refusal.accessTokenInvalid }
    var user: UserID?
    if let actAs = credentials.actAs {
      guard let named = UserID(actAs) else { throw Refusal.invalidActAs }
      // A retry of the deletion gets the first response.
      let deletion = Endpoints.deleteMe.erased
      let deletesAccount = (endpoint.method, endpoint.path) == (deletion.method, deletion.path)
      if !deletesAccount || !chat.isDeleted(named) { try await requireRegistered(named) }
      user = named
    }
    return Caller(principal: service(actingFor: user), expiresAt: nil, credentials: credentials)
  }

  /// - Parameter user: nil if the service acts for itself.
  private func service(actingFor user: UserID?) -> Principal {
    Principal(user: user, service: administrator.service)
  }

  /// A service that acts for a user for whom it has acted before; nil for everything else. `caller` determines why.
  func service(_ credentials: Credentials) -> Principal? {
    guard let user = credentials.actAs.flatMap({ UserID($0) }), registered.withLock({ $0.contains(user) }),
      !chat.isDeleted(user), isOfService(credentials)
    else { return nil }
    return service(actingFor: user)
  }

  /// Remembers registered users, because a registered user stays registered until the account is deleted.
  private func requireRegistered(_ user: UserID) async throws {
    if chat.isDeleted(user) { throw ServiceError.rejected(.userNotFound) }
    if registered.withLock({ $0.contains(user) }) { return }
    _ = try await chat.profile(of: user)
    registered.withLock { registered in
      if registered.count >= Self.rememberedUsers { registered.removeAll(keepingCapacity: true) }
      registered.insert(user)
    }
  }

  private func user(_ token: String, _ credentials: Credentials, _ now: Timestamp) async throws -> Caller {
    if credentials.actAs != nil { throw ServiceError.rejected(.serviceOnly) }
    let verified = try await verified(token, now)
    guard verified.isValid(at: now) else { throw Refusal.accessTokenExpired }
    try requireEnabledAccount(verified.principal)
    return Caller(principal: verified.principal, expiresAt: verified.expiresAt, credentials: credentials)
  }

  /// A token of a user that was verified before; nil for every other token.
  func remembered(_ token: String) -> VerifiedToken? {
    remembered.withLock { $0.find(token, at: NIODeadline.now().uptimeNanosecondsSinceStart) }
  }

  /// The user of a verified token, if it can be used now. If not, `caller` determines why.
  func user(of token: VerifiedToken, at now: Timestamp) -> Principal? {
    guard token.isChecked, token.isValid(at: now), token.principal.user != nil else { return nil }
    do { try requireEnabledAccount(token.principal) } catch { return nil }
    return token.principal
  }

  private func verified(_ token: String, _ now: Timestamp) async throws -> VerifiedToken {
    if let known = remembered(token), known.isChecked { return known }
    let verified: VerifiedToken
    if let unverified = UnverifiedToken(token), identities.isExternal(unverified) {
      verified = try await external(token, unverified, now)
    } else {
      verified = try await issuer.verify(accessToken: token)
    }
    remembered.withLock { $0.remember(token, verified) }
    return verified
  }

  /// Verifies a token of an external issuer, such as the team's own server. Registers its user when seen for the first
  /// time.
  private func external(
    _ token: String, _ unverified: UnverifiedToken, _ now: Timestamp
  ) async throws -> VerifiedToken {
    let found = try await identities.user(inBearerToken: token, unverified, at: now)
    let user = try await chat.user(
      withTokenOf: found.externalID, nickname: found.nickname, newUser: FreshID.make())
    return VerifiedToken(
      principal: Principal(user: user), issuedAt: .earliest, expiresAt: found.expiresAt,
      check: .until(.now + Self.externalCheck))
  }

  /// Rejects a session that has ended. Queries need this check, because no writer checks their session.
  func requireOpenSession(_ principal: Principal) throws {
    guard let user = principal.user, let session = principal.session else { return }
    if chat.isEnded(session, of: user) || chat.isDeleted(user) { throw ServiceError.rejected(.sessionEnded) }
  }

  /// Rejects a disabled account. A token of an external issuer has no session that could have ended, so the account is
  /// checked instead. A service may act for a disabled user.
  private func requireEnabledAccount(_ principal: Principal) throws {
    guard principal.service == nil, principal.session == nil, let user = principal.user else { return }
    if chat.isDisabled(user) { throw ServiceError.rejected(.accountDisabled) }
  }

  /// Checks a principal again, after a request that waited: what was true of it at the beginning can have ended.
  func requireStillValid(_ principal: Principal) throws {
    try requireOpenSession(principal)
    try requireEnabledAccount(principal)
  }
}

extension HTTPField.Name {
  static let hansardActAs = own(HeaderName.actAs)
  static let idempotencyKey = own(HeaderName.idempotencyKey)

  /// A header of the contract. Every request reads these headers, so an invalid name fails in the first test.
  static func own(_ name: String) -> HTTPField.Name {
    guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is not a header name (RFC 9110)") }
    return field
  }
}
