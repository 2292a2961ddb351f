package import ChatDomain
package import ChatPrimitives
import ChatProjections

extension ChatService {
  /// Sets a new password and ends the user's other sessions.
  ///
  /// The client of a retry knows the old password, which is no longer valid, and the new one, which is. So if the new
  /// password is already the current one, the same command is created again, and it is a retry.
  package func changePassword(
    from current: String, to new: String, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let (row, stored) = try await passwordHolder(user)
    guard let row, let credential = stored else { throw .rejected(.passwordWrong) }
    let change: UserCommand
    if try await isPassword(current, of: user, credential),
      PasswordRules.prepared(current) != PasswordRules.prepared(new)
    {
      try Self.check(new, email: row.email, nickname: row.nickname)
      let next = try await hasher.credential(new, for: user, version: credential.version + 1, as: .other)
      change = .logins(.changePassword(next, checked: credential.version))
    } else if try await isPassword(new, of: user, credential) {
      change = .logins(.changePassword(credential, checked: credential.version))
    } else {
      throw .rejected(.passwordWrong)
    }
    return try await performUser(change, by: principal, command: command)
  }

  /// - Parameter password: the current one; a service may omit it.
  /// - Returns: the outcome, and the address as it is stored.
  package func setEmail(
    _ email: String, password: String?, by principal: Principal, command: CommandID?,
    if precondition: Precondition? = nil
  ) async throws(ServiceError) -> (ChatOutcome, email: String) {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    let kept = email.lowercased()
    var checked: UInt32?
    if let password {
      guard let credential = try await accounts({ try $0.credential(of: user) }) else {
        throw .rejected(.passwordMissing)
      }
      guard try await isPassword(password, of: user, credential) else { throw .rejected(.passwordWrong) }
      checked = credential.version
    }
    let change = UserCommand.account(.setEmail(kept, checked: checked))
    return (try await performUser(change, by: principal, command: command, if: precondition), kept)
  }

  private func passwordHolder(_ user: UserID) async throws(ServiceError) -> (UserRow?, Credential?) {
    try await accounts { (try $0.user(user), try $0.credential(of: user)) }
  }

  /// Whether this is the user's password. A text longer than any password is not hashed.
  func isPassword(_ password: String, of user: UserID, _ credential: Credential) async throws(ServiceError) -> Bool {
    guard password.utf8.count <= Limits.passwordBytes else { return false }
    return try await hasher.verify(password, for: user, against: credential, as: .other)
  }

  // MARK: - Reset

  /// A token with which the user can set a new password, once and within an hour. It is derived from existing data, so
  /// nothing is stored.
  package func passwordReset(of user: UserID) async throws(ServiceError) -> (token: String, expiresAt: Timestamp) {
    let version = try await accounts { accounts in
      let present = try accounts.user(user).flatMap { $0.deleted == nil ? $0 : nil }
      return try present.map { _ in try accounts.credential(of: user)?.version ?? 0 }
    }
    guard let version else { throw .rejected(.userNotFound) }
    let expiry = now().adding(milliseconds: Limits.passwordResetMilliseconds)
    let reset = PasswordReset(user: user, version: version, expiresAt: expiry)
    return (PasswordResetTokens(keys).token(for: reset), expiry)
  }

  /// Sets a new password and ends every session of the user.
  package func resetPassword(
    token: String, to password: String
  ) async throws(ServiceError) -> (ChatOutcome, user: UserID) {
    guard let reset = PasswordResetTokens(keys).reset(in: token) else { throw .invalid(.passwordResetInvalid) }
    let (row, credential) = try await passwordHolder(reset.user)
    // An older log, restored from a backup, may not have the user.
    guard let row, row.deleted == nil else { throw .invalid(.passwordResetInvalid) }
    let current = credential?.version ?? 0
    // A useless token must not cost any hashing. The token that set the current version may arrive again with the same
    // password, however late: the decision distinguishes such a retry from a used token.
    if current == reset.version {
      let latest = now().adding(milliseconds: Limits.passwordResetMilliseconds + Limits.clockJumpMilliseconds)
      // A token that was made while the clock was ahead is refused, because it would be valid for too long.
      guard now() < reset.expiresAt, reset.expiresAt <= latest else { throw .invalid(.passwordResetExpired) }
    } else if current != reset.version &+ 1 {
      throw .rejected(.passwordResetUsed)
    }
    try Self.check(password, email: row.email, nickname: row.nickname)
    let next = try await hasher.credential(password, for: reset.user, version: reset.version + 1, as: .other)
    let outcome = try await performUser(
      .logins(.resetPassword(next, issuedFor: reset.version)), by: Principal(user: reset.user))
    return (outcome, reset.user)
  }

  /// A new password, which both requests have in the same field.
  private static func check(_ password: String, email: String?, nickname: String) throws(ServiceError) {
    do throws(ServiceError) {
      try PasswordRules.check(password, email: email, nickname: nickname)
    } catch {
      guard case .invalid(let input) = error else { throw error }
      throw .malformed([InputFlaw("/newPassword", input)])
    }
  }
}
