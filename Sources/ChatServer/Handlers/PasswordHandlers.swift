import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird

struct PasswordHandlers: Sendable {
  let chat: ChatService
  let throttle: LoginThrottle
  let hashing: HashingLimit
  /// A change is a repeat if its new password is the current one, so both of its passwords are tried.
  private static let guessesOfChange = 2

  func change(
    _ context: HansardRequestContext, _ body: TypedBody<ChangePasswordRequest>
  ) async throws -> TypedResponse<Account> {
    let body = try await body.decoded()
    let (actor, command) = try (context.actor, context.command())
    try await chat.requireOpenSession(actor)
    try hashing.admit(context)
    let attempt = LoginAttempt.account(try context.user, .session(actor.session))
    let outcome = try await throttle.attempt(attempt, from: context.address, guesses: Self.guessesOfChange) {
      try await chat.changePassword(
        from: body.currentPassword, to: body.newPassword, by: actor, command: command)
    }
    return try await receipt(outcome, of: context.user)
  }

  /// Writes nothing, because the token is derived from what is already stored.
  func request(_ context: HansardRequestContext) async throws -> TypedResponse<PasswordResetToken> {
    let user: UserID = try context.id("userId")
    let (token, expiry) = try await chat.passwordReset(of: user)
    return try JSONBody.response(PasswordResetToken(userId: user, token: token, expiresAt: expiry))
  }

  func reset(
    _ context: HansardRequestContext, _ body: TypedBody<ResetPasswordRequest>
  ) async throws -> TypedResponse<Account> {
    let body = try await body.decoded()
    try hashing.admit(context)
    let (outcome, user) = try await chat.resetPassword(token: body.token, to: body.newPassword)
    return try await receipt(outcome, of: user)
  }

  private func receipt(_ outcome: ChatOutcome, of user: UserID) async throws -> TypedResponse<Account> {
    var account = try await Account(of: user, chat)
    account.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, account)
  }
}
