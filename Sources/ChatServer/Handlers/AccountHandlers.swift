import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct AccountHandlers: Sendable {
  let chat: ChatService
  let identities: IdentityProviders
  let throttle: LoginThrottle
  let hashing: HashingLimit

  func create(
    _ context: HansardRequestContext, _ body: TypedBody<CreateAccountRequest>
  ) async throws -> TypedResponse<Account> {
    let body = try await body.decoded()
    // The user does not exist yet. A service registers users in its own name, even if it acts for a user.
    let principal = Principal(service: context.principal?.service)
    let name: CreationName<Entity.User> = try CreationName(body.id, of: .account, by: principal, context, chat)
    if body.password != nil { try hashing.admit(context) }
    let (outcome, email) = try await name.create { _ in try await register(name, body, by: principal, context) }
    let hasPassword = body.password != nil
    return try JSONBody.receipt(
      outcome.result,
      Account(
        id: name.id, nickname: body.nickname, picture: nil, email: email, externalId: body.externalId,
        hasPassword: hasPassword, isGuest: hasPassword && email == nil && body.externalId == nil, identities: [],
        custom: nil, disabledAt: nil, position: outcome.stamp.position, revision: outcome.stamp.position))
  }

  /// Registering under an ID that is taken reveals whether the password is correct, so it counts as an attempt to log
  /// in to that account.
  private func register(
    _ name: CreationName<Entity.User>, _ body: CreateAccountRequest, by principal: Principal,
    _ context: HansardRequestContext
  ) async throws -> (ChatOutcome, email: String?) {
    let account = ChatService.NewAccount(
      id: name.id, nickname: body.nickname, email: body.email, password: body.password, externalID: body.externalId)
    guard !name.isFresh, try await chat.isRegistered(name.id) else {
      return try await chat.register(account, by: principal)
    }
    guard body.password != nil, principal.service == nil else {
      return try await chat.register(account, by: principal, isRepeat: true)
    }
    return try await throttle.attempt(.repeatedRegistration(name.id), from: context.address) {
      try await chat.register(account, by: principal, isRepeat: true)
    }
  }

  func me(_ context: HansardRequestContext) async throws -> TypedResponse<Account> {
    try JSONBody.response(try await Account(of: context.user, chat))
  }

  func updateMe(
    _ context: HansardRequestContext, _ body: TypedBody<UpdateMeRequest>
  ) async throws -> TypedResponse<Account> {
    let body = try await body.decoded()
    let edit = ProfileEdit(
      nickname: body.nickname, picture: body.picture.map { $0.map { .set($0) } ?? .remove },
      custom: body.custom?.stored)
    if let email = body.email {
      guard edit.isEmpty else { throw Refusal.invalidField("To change email, send only email and currentPassword.") }
      return try await setEmail(email, body.currentPassword, context)
    }
    guard body.currentPassword == nil else {
      throw Refusal.invalidField("currentPassword is allowed only together with email.", at: "/currentPassword")
    }
    guard !edit.isEmpty else { throw Refusal.invalidField("Send at least one of nickname, picture, custom and email.") }
    let outcome = try await chat.changeProfile(
      edit, by: context.actor, command: context.command(), if: context.precondition())
    var account = try await Account(of: context.user, chat)
    if let nickname = edit.nickname { account.nickname = nickname }
    if let picture = edit.picture { account.picture = picture.media }
    if let custom = body.custom { account.custom = custom.kept }
    account.position = outcome.stamp.position
    account.revision = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, account)
  }

  /// The user logs in with this address, so an access token alone cannot change it.
  private func setEmail(
    _ email: String, _ password: String?, _ context: HansardRequestContext
  ) async throws -> TypedResponse<Account> {
    let actor = try context.actor
    let (command, precondition) = try (context.command(), context.precondition())
    try await chat.requireOpenSession(actor)
    guard password != nil || actor.service != nil else { throw ServiceError.rejected(.passwordWrong) }
    if password != nil { try hashing.admit(context) }
    let attempt = LoginAttempt.account(try context.user, .session(actor.session))
    let (outcome, kept) = try await throttle.attempt(attempt, from: context.address) {
      try await chat.setEmail(email, password: password, by: actor, command: command, if: precondition)
    }
    var account = try await Account(of: context.user, chat)
    account.email = kept
    account.position = outcome.stamp.position
    account.revision = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, account)
  }

  func linkIdentity(
    _ context: HansardRequestContext, _ body: TypedBody<LinkIdentityRequest>
  ) async throws -> TypedResponse<Account> {
    let body = try await body.decoded()
    let (actor, command) = (try context.actor, try context.command())
    try await chat.requireOpenSession(actor)
    let found = try await identities.user(inIDToken: body.idToken, nonce: body.nonce, at: context.receivedAt)
    let outcome: ChatOutcome
    switch (body.currentPassword, body.linkedIdToken) {
    case (let password?, _):
      try hashing.admit(context)
      let attempt = LoginAttempt.account(try context.user, .session(actor.session))
      outcome = try await throttle.attempt(attempt, from: context.address) {
        try await chat.link(found.identity, proof: .password(password), by: actor, command: command)
      }
    case (nil, let token?):
      let own = try await identities.user(inIDToken: token, nonce: body.linkedNonce, at: context.receivedAt)
      outcome = try await chat.link(found.identity, proof: .identity(own.identity), by: actor, command: command)
    case (nil, nil): outcome = try await chat.link(found.identity, proof: nil, by: actor, command: command)
    }
    return try await receipt(outcome, of: context.user)
  }

  func unlinkIdentity(_ context: HansardRequestContext) async throws -> TypedResponse<Account> {
    let command = try context.command()
    guard let issuer = try context.query("issuer"), let subject = try context.query("subject") else {
      throw Refusal.invalidQuery("issuer and subject are needed.")
    }
    let outcome = try await chat.unlink(
      Identity(issuer: issuer, subject: subject), by: context.actor, command: command)
    return try await receipt(outcome, of: context.user)
  }

  private func receipt(_ outcome: ChatOutcome, of user: UserID) async throws -> TypedResponse<Account> {
    var account = try await Account(of: user, chat)
    account.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, account)
  }

  func profile(_ context: HansardRequestContext) async throws -> TypedResponse<PublicProfile> {
    try JSONBody.response(PublicProfile(try await chat.profile(of: context.id("userId"))))
  }
}

extension PublicProfile {
  init(_ row: UserRow) {
    self.init(
      id: row.id, nickname: row.nickname, picture: row.picture, isGuest: row.isGuest,
      custom: row.custom.map { CanonicalJSON(unchecked: $0) })
  }
}

extension Account {
  /// The account as it is now.
  init(of user: UserID, _ chat: ChatService) async throws {
    let (row, identities) = try await chat.account(of: user)
    self.init(row, identities)
  }

  init(_ row: UserRow, _ identities: [IdentityRow]) {
    self.init(
      id: row.id, nickname: row.nickname, picture: row.picture, email: row.email, externalId: row.externalID,
      hasPassword: row.hasPassword, isGuest: row.isGuest,
      identities: identities.map { LinkedIdentity(issuer: $0.identity.issuer, subject: $0.identity.subject) },
      custom: row.custom.map { CanonicalJSON(unchecked: $0) }, disabledAt: row.disabled?.time,
      position: row.registered.position, revision: row.revision)
  }
}
