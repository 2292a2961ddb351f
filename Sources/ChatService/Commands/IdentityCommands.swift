package import ChatDomain
package import ChatPrimitives
import ChatProjections

extension ChatService {
  /// How often a first login is tried if another first login gets ahead of it.
  private static let firstLoginAttempts = 3
  /// The nickname of a user who has none.
  package static let defaultNickname = "New user"

  /// Logs in with an ID token that the caller has checked. An unknown user is registered.
  /// - Parameters:
  ///   - nickname: for a new account, from the token.
  ///   - newUser: the ID of a new account.
  package func startSession(
    _ session: SessionNaming, as identity: Identity, nickname: String?, newUser: UserID, device: DeviceID?
  ) async throws(ServiceError) -> SessionGrant {
    for _ in 0..<Self.firstLoginAttempts {
      if let user = try await accounts({ try $0.user(with: identity) }) {
        let principal = Principal(user: user.id, device: device)
        return try await start(session, device, .identity(identity), user.profile, by: principal)
      }
      let registration = newRegistration(nickname: nickname, externalID: nil)
      try await unless(.identityInUse) { () async throws(ServiceError) in
        _ = try await self.performUser(
          .account(.registerIdentified(registration, identity)), by: Principal(user: newUser))
      }
    }
    throw .overloaded
  }

  /// Proves that the account's owner links the login.
  package enum LinkProof: Sendable {
    case password(String)
    /// A login of the account, proved by an ID token that the caller has checked.
    case identity(Identity)
  }

  /// Links another login to the acting user.
  /// - Parameter proof: from the account's owner; a service may omit it.
  package func link(
    _ identity: Identity, proof: LinkProof?, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let shown: LoginProof
    switch proof {
    case .password(let password):
      guard let credential = try await accounts({ try $0.credential(of: user) }) else {
        throw .rejected(.passwordMissing)
      }
      guard try await isPassword(password, of: user, credential) else { throw .rejected(.passwordWrong) }
      shown = .password(version: credential.version)
    case .identity(let identity): shown = .identity(identity)
    case nil: shown = .service
    }
    return try await performUser(.logins(.link(identity, proof: shown)), by: principal, command: command)
  }

  /// After this, nobody can log in with the identity. Sessions that it started continue.
  package func unlink(
    _ identity: Identity, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.logins(.unlink(identity)), by: principal, command: command)
  }

  /// The user with this `externalID`, from a token of a team's own server that the caller has checked. An unknown user
  /// is registered.
  package func user(
    withTokenOf externalID: String, nickname: String?, newUser: UserID
  ) async throws(ServiceError) -> UserID {
    for _ in 0..<Self.firstLoginAttempts {
      if let user = try await user(withExternalID: externalID) { return user.id }
      let registration = newRegistration(nickname: nickname ?? externalID, externalID: externalID)
      try await unless(.externalIDInUse) { () async throws(ServiceError) in
        _ = try await self.perform(self.register(newUser, registration, by: self.tokenIssuerService))
      }
    }
    throw .overloaded
  }

  /// Runs a first login. If another one got ahead of it, returns normally, so that the caller looks again.
  private func unless(
    _ overtaken: Rejection, _ body: () async throws(ServiceError) -> Void
  ) async throws(ServiceError) {
    do {
      try await body()
    } catch {
      guard case .rejected(overtaken) = error else { throw error }
    }
  }

  private func newRegistration(nickname: String?, externalID: String?) -> Registration {
    Registration(
      nickname: Self.fitted(nickname), email: nil, externalID: externalID, credential: nil,
      commitmentKey: Self.randomBytes(Registration.commitmentKeyBytes))
  }

  /// A nickname of allowed length, from a name of another system: without characters that a name must not have, and cut
  /// between characters.
  static func fitted(_ nickname: String?) -> String {
    var fitted = ""
    for character in TextRules.withoutForbidden(nickname ?? "") {
      guard fitted.utf8.count + character.utf8.count <= Limits.nicknameBytes else { break }
      fitted.append(character)
    }
    return TextRules.shows(fitted) ? fitted : defaultNickname
  }

  /// The service ID that the log has for registrations by tokens of a team's own server.
  private var tokenIssuerService: Principal {
    let bytes = keys.authenticationCode(for: "external-token-service-id", []).prefix(UUIDBytes.byteCount)
    return Principal(service: ServiceID(UUIDBytes(bytes: bytes) ?? .zero))
  }
}
