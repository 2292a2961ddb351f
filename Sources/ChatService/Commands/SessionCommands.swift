package import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore

/// What a pair of tokens is derived from. Everyone who asks for the same pair gets the same one.
package struct SessionGrant: Sendable, Hashable {
  package var user: UserID
  package var profile: Profile
  package var session: SessionID
  package var device: DeviceID?
  package var generation: UInt32
  /// The stamp of the event that created this pair.
  package var stamp: Stamp
  package var isNew: Bool
}

/// The name that a user logs in with, in addition to the password.
package enum LoginName: Sendable, Hashable {
  case email(String)
  /// For users without an e-mail address; no one else has this name.
  case user(UserID)
}

extension LoginName {
  /// The user who logs in with this name. Nil if there is none, and for the ID of a user who has an address.
  fileprivate func owner(in accounts: AccountsQueries) throws -> UserRow? {
    switch self {
    case .email(let email): try accounts.user(email: email)
    case .user(let id): try accounts.user(id).flatMap { $0.email == nil ? $0 : nil }
    }
  }
}

extension ChatService {
  /// Logs in with a password.
  package func startSession(
    _ session: SessionNaming, as name: LoginName, password: String, device: DeviceID?
  )
    async throws(ServiceError) -> SessionGrant
  {
    guard password.utf8.count <= Limits.passwordBytes else { throw .rejected(.credentialsRejected) }
    let found = try await accounts { accounts in
      try name.owner(in: accounts).map { ($0, try accounts.credential(of: $0.id)) }
    }
    guard let (user, stored) = found, let credential = stored else {
      // Takes as long as for a known address, so that the duration reveals nothing.
      _ = try await hasher.credential(password, for: UserID(UUIDBytes(high: 1, low: 1)), as: .login)
      throw .rejected(.credentialsRejected)
    }
    guard try await hasher.verify(password, for: user.id, against: credential, as: .login) else {
      throw .rejected(.credentialsRejected)
    }
    let principal = Principal(user: user.id, device: device)
    return try await start(session, device, .password(version: credential.version), user.profile, by: principal)
  }

  /// The user who logs in with this name, and whether that user has logged in on the device before; nil if there is
  /// none. A user with an address is not found by ID: others can see the ID, and their attempts, which always fail,
  /// must not lock the owner out.
  package func user(
    named name: LoginName, on device: DeviceID?
  ) async throws(ServiceError) -> (id: UserID, knowsDevice: Bool)? {
    try await accounts { accounts in
      guard let user = try name.owner(in: accounts) else { return nil }
      return (user.id, try device.map { try accounts.hasSession(of: user.id, on: $0) } ?? false)
    }
  }

  /// Starts a session for the user in whose name a service acts.
  package func startSession(
    _ session: SessionNaming, device: DeviceID?, by principal: Principal
  )
    async throws(ServiceError) -> SessionGrant
  {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let profile = try await profile(of: user).profile
    return try await start(session, device, .service, profile, by: principal)
  }

  func start(
    _ naming: SessionNaming, _ device: DeviceID?, _ proof: LoginProof, _ profile: Profile, by principal: Principal
  ) async throws(ServiceError) -> SessionGrant {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let session = session(naming, of: user)
    let outcome: ChatOutcome
    do {
      outcome = try await performUser(.sessions(.start(session, device: device, proof: proof)), by: principal)
    } catch {
      // An ID derived from a key can be in use only because of an earlier use of that key.
      if case .keyed = naming, case .rejected(.idInUse) = error { throw .rejected(.idempotencyKeyReused) }
      throw error
    }
    return SessionGrant(
      user: user, profile: profile, session: session, device: device, generation: 1, stamp: outcome.stamp,
      isNew: outcome.isNew)
  }

  /// - Parameter presented: the generation of the refresh token, whose authenticity the caller has checked.
  package func refreshSession(
    _ session: SessionID, of user: UserID, presented: UInt32
  ) async throws(ServiceError)
    -> SessionGrant
  {
    let oldest = rules.refreshTokenLifetimeMilliseconds.map { now().adding(milliseconds: -$0) }
    let outcome = try await performUser(
      .sessions(.refresh(session, presented: presented, oldest: oldest)), by: Principal(user: user))
    for recorded in outcome.events {
      if case .user(_, .sessions(.ended)) = recorded.event { throw .rejected(.refreshTokenReused) }
    }
    let (profile, device) = try await accounts { accounts in
      (try accounts.user(user)?.profile, try accounts.session(session, of: user)?.device)
    }
    return SessionGrant(
      user: user, profile: profile ?? Profile(nickname: ""), session: session, device: device,
      generation: presented + 1, stamp: outcome.stamp, isNew: outcome.isNew)
  }

  package func endSession(
    _ session: SessionID, by principal: Principal, command: CommandID?
  )
    async throws(ServiceError) -> ChatOutcome
  {
    try await performUser(.sessions(.end(session, .loggedOut)), by: principal, command: command)
  }

  /// Ends the user's other sessions, or all of them.
  package func endSessions(
    _ selection: SessionSelection, of user: UserID, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(principal, .user(user, .sessions(.endMany(selection))), command: command))
  }
}
