package import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore

/// A pair of tokens is made of this alone, so that everybody who asks for the same pair gets the same one.
package struct SessionGrant: Sendable, Hashable {
  package var user: UserID
  package var nickname: String
  package var session: SessionID
  package var device: DeviceID?
  package var generation: UInt32
  /// Of the fact that made this pair.
  package var stamp: Stamp
  package var isNew: Bool
}

extension ChatService {
  /// Logs in with a password.
  package func startSession(
    _ session: SessionID, email: String, password: String, device: DeviceID?
  )
    async throws(ServiceError) -> SessionGrant
  {
    guard password.utf8.count <= Limits.passwordBytes else { throw .rejected(.credentialsRejected) }
    let found = try await accounts { accounts in
      try accounts.user(email: email.lowercased()).map { ($0, try accounts.credential(of: $0.id)) }
    }
    guard let (user, stored) = found, let credential = stored else {
      // As slow as for a known address, so that the time tells nothing.
      _ = try await hasher.credential(password, for: UserID(UUIDBytes(high: 1, low: 1)))
      throw .rejected(.credentialsRejected)
    }
    guard try await hasher.verify(password, for: user.id, against: credential) else {
      throw .rejected(.credentialsRejected)
    }
    let principal = Principal(user: user.id, device: device)
    return try await start(session, device, credentialVersion: credential.version, user.nickname, by: principal)
  }

  /// Starts a session for the user in whose name a service acts.
  package func startSession(
    _ session: SessionID, device: DeviceID?, by principal: Principal
  )
    async throws(ServiceError) -> SessionGrant
  {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let nickname = try await profile(of: user).nickname
    return try await start(session, device, credentialVersion: nil, nickname, by: principal)
  }

  private func start(
    _ session: SessionID, _ device: DeviceID?, credentialVersion: UInt32?, _ nickname: String,
    by principal: Principal
  ) async throws(ServiceError) -> SessionGrant {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let outcome = try await performUser(
      .startSession(session, device: device, credentialVersion: credentialVersion), by: principal)
    return SessionGrant(
      user: user, nickname: nickname, session: session, device: device, generation: 1, stamp: outcome.stamp,
      isNew: outcome.isNew)
  }

  /// - Parameter presented: the generation of the refresh token, whose authenticity the caller has checked.
  package func refreshSession(
    _ session: SessionID, of user: UserID, presented: UInt32
  ) async throws(ServiceError)
    -> SessionGrant
  {
    let outcome = try await performUser(
      .refreshSession(session, presented: presented), by: Principal(user: user))
    for recorded in outcome.events {
      if case .user(_, .sessionEnded) = recorded.event { throw .rejected(.refreshTokenReused) }
    }
    let (nickname, device) = try await accounts { accounts in
      (try accounts.user(user)?.nickname, try accounts.session(session, of: user)?.device)
    }
    return SessionGrant(
      user: user, nickname: nickname ?? "", session: session, device: device, generation: presented + 1,
      stamp: outcome.stamp, isNew: outcome.isNew)
  }

  package func endSession(
    _ session: SessionID, by principal: Principal, command: CommandID?
  )
    async throws(ServiceError) -> ChatOutcome
  {
    try await performUser(.endSession(session, .loggedOut), by: principal, command: command)
  }
}
