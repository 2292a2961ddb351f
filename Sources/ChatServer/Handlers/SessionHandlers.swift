import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct SessionHandlers: Sendable {
  let chat: ChatService
  let issuer: TokenIssuer
  let throttle: LoginThrottle

  func create(_ exchange: Exchange) async throws -> Response {
    let body = try await exchange.body(CreateSessionRequest.self)
    let session = body.id ?? FreshID.make()
    let grant: SessionGrant
    if let email = body.email, let password = body.password {
      grant = try await throttle.attempt(email, from: exchange.address) {
        try await chat.startSession(session, email: email, password: password, device: body.deviceId)
      }
    } else {
      guard body.email == nil, body.password == nil else {
        throw Refusal.invalidField("email and password come together.")
      }
      guard let principal = exchange.principal, principal.service != nil else {
        throw Refusal.invalidField("email and password are needed.")
      }
      guard principal.user != nil else { throw Refusal.actingUserRequired }
      grant = try await chat.startSession(session, device: body.deviceId, by: principal)
    }
    return try await tokens(for: grant)
  }

  func refresh(_ exchange: Exchange) async throws -> Response {
    let body = try await exchange.body(RefreshSessionRequest.self)
    let token = try await issuer.verify(refreshToken: body.refreshToken)
    do {
      let grant = try await chat.refreshSession(token.session, of: token.user, presented: token.generation)
      return try await tokens(for: grant)
    } catch ServiceError.rejected(.userNotFound) {
      // The token is this server's own, from before the log was put back to an older state.
      throw ServiceError.rejected(.refreshTokenExpired)
    }
  }

  private func tokens(for grant: SessionGrant) async throws -> Response {
    let tokens = Tokens(
      accessToken: try await issuer.accessToken(for: grant), refreshToken: await issuer.refreshToken(for: grant),
      // As of now: checking a password takes longer than a second on a small machine.
      expiresIn: await issuer.secondsLeft(of: grant, at: ChatService.now()),
      user: User(id: grant.user, nickname: grant.nickname), sessionId: grant.session,
      position: grant.stamp.position)
    return try JSONBody.receipt(grant.isNew, tokens)
  }

  func list(_ exchange: Exchange) async throws -> Response {
    let current = try exchange.actor.session
    let rows = try await chat.sessions(of: exchange.user)
    return try JSONBody.answer(SessionList(sessions: rows.map { Session($0, current: current) }))
  }

  func end(_ exchange: Exchange) async throws -> Response {
    let actor = try exchange.actor
    let session: SessionID
    if try exchange.text("sessionId") == "current" {
      guard let own = actor.session else { throw Refusal.invalidID("sessionId") }
      session = own
    } else {
      session = try exchange.id("sessionId")
    }
    let outcome = try await chat.endSession(session, by: actor, command: exchange.command())
    var receipt = Session(try await chat.session(session, of: exchange.user), current: actor.session)
    receipt.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.isNew, receipt)
  }
}

extension Session {
  fileprivate init(_ row: SessionRow, current: SessionID?) {
    self.init(
      id: row.id, deviceId: row.device, startedAt: row.started.time, refreshedAt: row.pair.time,
      endedAt: row.end?.stamp.time, isCurrent: row.id == current, position: row.started.position)
  }
}
