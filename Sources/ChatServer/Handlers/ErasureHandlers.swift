import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

/// Deleted accounts, their erasure, and legal holds.
struct ErasureHandlers: Sendable {
  let chat: ChatService
  let identities: IdentityProviders
  let throttle: LoginThrottle
  let hashing: HashingLimit

  // MARK: - Deleting an account

  /// The session is not checked before the password, because that of a retry ended with the account.
  func deleteMe(
    _ context: HansardRequestContext, _ body: TypedBody<DeleteAccountRequest>
  ) async throws -> TypedResponse<AccountErasure> {
    let body = try await body.decoded()
    let (actor, command) = try (context.actor, context.command())
    let user = try context.user
    guard !chat.isDeleted(user) else {
      return try await receipt(chat.deleteAccount(proof: nil, by: actor, command: command), of: user)
    }
    try await chat.requireOpenSession(actor)
    switch (body.currentPassword, body.idToken) {
    case (.some, .some):
      throw Refusal.invalidField("Send either currentPassword or idToken.", at: "/idToken")
    case (let password?, nil):
      try hashing.admit(context)
      let attempt = LoginAttempt.account(user, .session(actor.session))
      let outcome = try await throttle.attempt(attempt, from: context.address) {
        try await chat.deleteAccount(proof: .password(password), by: actor, command: command)
      }
      return try await receipt(outcome, of: user)
    case (nil, let token?):
      let found = try await identities.user(
        inFreshIDToken: token, nonce: body.nonce, at: context.receivedAt)
      return try await receipt(
        chat.deleteAccount(proof: .identity(found.identity), by: actor, command: command), of: user)
    case (nil, nil):
      return try await receipt(chat.deleteAccount(proof: nil, by: actor, command: command), of: user)
    }
  }

  func deleteUser(_ context: HansardRequestContext) async throws -> TypedResponse<AccountErasure> {
    let user: UserID = try context.id("userId")
    return try await receipt(chat.deleteAccount(of: user, by: context.actor, command: context.command()), of: user)
  }

  private func receipt(_ outcome: ChatOutcome, of user: UserID) async throws -> TypedResponse<AccountErasure> {
    let (row, progress) = try await chat.erasure(of: user)
    return try JSONBody.receipt(outcome.result, AccountErasure(row, progress))
  }

  // MARK: - Erasures

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<ErasureList> {
    let cursors = PageCursors(.erasures, in: chat.logIdentity)
    let (rows, next) = try await chat.erasures(
      after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: rows.count) {
      ErasureList(
        erasures: rows.map { AccountErasure($0.row, $0.progress) },
        nextCursor: next.map { cursors.cursor(at: $0.value) })
    }
  }

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<AccountErasure> {
    let (row, progress) = try await chat.erasure(of: context.id("userId"))
    return try JSONBody.response(AccountErasure(row, progress))
  }

  // MARK: - Legal holds

  func holdUser(
    _ context: HansardRequestContext, _ body: TypedBody<PlaceLegalHoldRequest>
  ) async throws -> TypedResponse<ChatProtocol.LegalHold> {
    try await hold(.user(context.id("userId")), context, body)
  }

  func holdRoom(
    _ context: HansardRequestContext, _ body: TypedBody<PlaceLegalHoldRequest>
  ) async throws -> TypedResponse<ChatProtocol.LegalHold> {
    try await hold(.room(context.id("roomId")), context, body)
  }

  func releaseUser(_ context: HansardRequestContext) async throws -> TypedResponse<ChatProtocol.LegalHold> {
    try await release(.user(context.id("userId")), context)
  }

  func releaseRoom(_ context: HansardRequestContext) async throws -> TypedResponse<ChatProtocol.LegalHold> {
    try await release(.room(context.id("roomId")), context)
  }

  private func hold(
    _ target: ChatDomain.LegalHold.Target, _ context: HansardRequestContext, _ body: TypedBody<PlaceLegalHoldRequest>
  ) async throws -> TypedResponse<ChatProtocol.LegalHold> {
    let hold = ChatDomain.LegalHold(target, reason: try await body.decoded().reason)
    let outcome = try await chat.placeLegalHold(hold, by: context.actor, command: context.command())
    let placed = LegalHolds.Entry(hold: hold, placed: outcome.stamp)
    return try JSONBody.receipt(outcome.result, ChatProtocol.LegalHold(placed))
  }

  private func release(
    _ target: ChatDomain.LegalHold.Target, _ context: HansardRequestContext
  ) async throws -> TypedResponse<ChatProtocol.LegalHold> {
    let outcome = try await chat.liftLegalHold(on: target, by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.result, ChatProtocol.LegalHold(target, reason: nil, placedAt: nil, position: outcome.stamp.position))
  }

  func listHolds(_ context: HansardRequestContext) async throws -> TypedResponse<LegalHoldList> {
    let cursors = PageCursors(.legalHolds, in: chat.logIdentity)
    let page = try await chat.legalHolds(
      after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.holds.count) {
      LegalHoldList(
        legalHolds: page.holds.map { ChatProtocol.LegalHold($0) },
        nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}

extension AccountErasure {
  init(_ row: ErasureRow, _ progress: ErasureProgress) {
    var erased: CompleteErasure?
    let state: String
    switch progress {
    case .held: state = "held"
    case .running: state = "running"
    case .delayed: state = "delayed"
    case .complete(let erasure):
      state = "complete"
      erased = row.state.erased.map {
        CompleteErasure(
          erasedAt: $0.time, erasedRecords: erasure.erasedRecords, keptRecords: erasure.keptRecords,
          position: $0.position)
      }
    }
    self.init(
      userId: row.user, state: state, deletedAt: row.state.deleted.time, erased: erased,
      position: row.state.deleted.position)
  }
}

extension ChatProtocol.LegalHold {
  init(_ entry: LegalHolds.Entry) {
    self.init(
      entry.hold.target, reason: entry.hold.reason, placedAt: entry.placed.time, position: entry.placed.position)
  }

  init(_ target: ChatDomain.LegalHold.Target, reason: String?, placedAt: Timestamp?, position: LogPosition) {
    switch target {
    case .user(let user):
      self.init(userId: user, roomId: nil, reason: reason, placedAt: placedAt, position: position)
    case .room(let room):
      self.init(userId: nil, roomId: room, reason: reason, placedAt: placedAt, position: position)
    }
  }
}
