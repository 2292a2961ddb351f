import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Session
import struct ChatProtocol.User

struct SessionHandlers: Sendable {
  let chat: ChatService
  let issuer: TokenIssuer
  let identities: IdentityProviders
  let throttle: LoginThrottle
  let hashing: HashingLimit

  func create(
    _ context: HansardRequestContext, _ body: TypedBody<CreateSessionRequest>
  ) async throws -> TypedResponse<Tokens> {
    let body = try await body.decoded()
    let key = try context.command()
    let session = body.id.map { .given($0) } ?? key.map { .keyed($0) } ?? SessionNaming.given(FreshID.make())
    if let token = body.idToken {
      guard body.email == nil, body.userId == nil, body.password == nil else {
        throw Refusal.invalidField("With idToken, omit email, userId and password.")
      }
      return try await tokens(for: start(session, token, body, context))
    }
    guard body.nonce == nil else {
      throw Refusal.invalidField("nonce is allowed only together with idToken.", at: "/nonce")
    }
    if let password = body.password {
      let name = try Self.loginName(body)
      try hashing.admit(context)
      let grant = try await throttle.attempt(attempt(name, on: body.deviceId), from: context.address) {
        try await chat.startSession(session, as: name, password: password, device: body.deviceId)
      }
      return try await tokens(for: grant)
    }
    guard body.email == nil, body.userId == nil else {
      throw Refusal.invalidField("Send password together with email or userId.")
    }
    guard let principal = context.principal, principal.service != nil else {
      throw Refusal.invalidField("Send email and password, or idToken.")
    }
    guard principal.user != nil else { throw Refusal.actingUserRequired }
    return try await tokens(for: chat.startSession(session, device: body.deviceId, by: principal))
  }

  /// Attempts count against the account, whichever of its names they use.
  private func attempt(_ name: LoginName, on device: DeviceID?) async throws -> LoginAttempt {
    if let user = try await chat.user(named: name, on: device) {
      return .account(user.id, user.knowsDevice ? device.map { .device($0) } : nil)
    }
    return switch name {
    case .email(let email): .unknown(email)
    case .user(let user): .unknown(user.description)
    }
  }

  private static func loginName(_ body: CreateSessionRequest) throws -> LoginName {
    switch (body.email, body.userId) {
    case (let email?, nil): .email(email)
    case (nil, let user?): .user(user)
    case (nil, nil), (_?, _?): throw Refusal.invalidField("With password, send either email or userId.")
    }
  }

  private func start(
    _ session: SessionNaming, _ idToken: String, _ body: CreateSessionRequest, _ context: HansardRequestContext
  ) async throws -> SessionGrant {
    let found = try await identities.user(inIDToken: idToken, nonce: body.nonce, at: context.receivedAt)
    return try await chat.startSession(
      session, as: found.identity, nickname: found.nickname, newUser: FreshID.make(), device: body.deviceId)
  }

  func refresh(
    _ context: HansardRequestContext, _ body: TypedBody<RefreshSessionRequest>
  ) async throws -> TypedResponse<Tokens> {
    let body = try await body.decoded()
    let token = try await issuer.verify(refreshToken: body.refreshToken)
    do {
      let grant = try await chat.refreshSession(token.session, of: token.user, presented: token.generation)
      return try await tokens(for: grant)
    } catch ServiceError.rejected(.userNotFound) {
      // This server issued the token, but its log was later restored to an older state.
      throw ServiceError.rejected(.refreshTokenExpired)
    }
  }

  private func tokens(for grant: SessionGrant) async throws -> TypedResponse<Tokens> {
    let tokens = Tokens(
      accessToken: try await issuer.accessToken(for: grant), refreshToken: await issuer.refreshToken(for: grant),
      // The time is read again, because checking a password takes longer than a second on a small machine.
      expiresIn: await issuer.secondsLeft(of: grant, at: chat.now()),
      user: User(grant.user, grant.profile), sessionId: grant.session,
      position: grant.stamp.position)
    return try JSONBody.receipt(grant.result, tokens)
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<SessionList> {
    let current = try context.actor.session
    let rows = try await chat.sessions(of: context.user)
    return try await JSONBody.page(of: rows.count) { SessionList(sessions: rows.map { Session($0, current: current) }) }
  }

  func end(_ context: HansardRequestContext) async throws -> TypedResponse<Session> {
    let actor = try context.actor
    let session: SessionID
    if try context.text("sessionId") == "current" {
      guard let own = actor.session else { throw ServiceError.rejected(.sessionNotFound) }
      session = own
    } else {
      session = try context.id("sessionId")
    }
    let outcome = try await chat.endSession(session, by: actor, command: context.command())
    var receipt = Session(try await chat.session(session, of: context.user), current: actor.session)
    receipt.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, receipt)
  }
}

extension SessionHandlers {
  /// Ends the user's other sessions, or with `all` every session.
  func endMany(_ context: HansardRequestContext) async throws -> TypedResponse<EndedSessions> {
    let actor = try context.actor
    let all = try context.query("all")
    guard all == nil || all == "" || all == "true" else {
      throw Refusal.invalidQuery("Send all without a value, or all=true.")
    }
    let outcome = try await chat.endSessions(
      all == nil ? .others : .all, of: context.user, by: actor, command: context.command())
    let rows = try await chat.sessions(of: context.user)
    return try JSONBody.receipt(
      outcome.result,
      EndedSessions(sessions: rows.map { Session($0, current: actor.session) }, position: outcome.stamp.position))
  }
}

extension Session {
  init(_ row: SessionRow, current: SessionID?) {
    self.init(
      id: row.id, deviceId: row.device, startedAt: row.started.time, refreshedAt: row.pair.time,
      endedAt: row.end?.stamp.time, isCurrent: row.id == current, position: row.started.position)
  }
}
