package import ChatDomain
package import ChatPrimitives

extension ChatService {
  /// The fields of a registration.
  package struct NewAccount: Sendable {
    package var id: UserID
    package var nickname: String
    package var email: String?
    package var password: String?
    package var externalID: String?

    package init(id: UserID, nickname: String, email: String?, password: String?, externalID: String?) {
      self.id = id
      self.nickname = nickname
      self.email = email
      self.password = password
      self.externalID = externalID
    }
  }

  /// - Parameter isRepeat: whether the ID is in use, so that this can only be a retry. The form of a retry is not
  ///   checked, because the account may be older than a rule.
  /// - Returns: the outcome, and the e-mail address as it is stored.
  package func register(
    _ account: NewAccount, by principal: Principal, isRepeat: Bool = false
  ) async throws(ServiceError)
    -> (ChatOutcome, email: String?)
  {
    let email = account.email?.lowercased()
    var flaws: [InputFlaw] = []
    if !isRepeat {
      flaws = UserDecider.flaws(
        nickname: account.nickname, email: email, externalID: account.externalID, hasPassword: account.password != nil
      ).map { InputFlaw($0) }
    }
    let isForbiddenGuest = account.email == nil && account.password != nil && !rules.allowsGuests
    if flaws.isEmpty, isForbiddenGuest { throw .rejected(.credentialIncomplete) }
    if let password = account.password {
      do throws(ServiceError) {
        try PasswordRules.check(password, email: email, nickname: account.nickname)
      } catch {
        guard case .invalid(let input) = error else { throw error }
        flaws.append(InputFlaw("/password", input))
      }
    }
    if !flaws.isEmpty { throw .malformed(flaws) }
    var credential: Credential?
    if let password = account.password {
      credential = try await hasher.credential(password, for: account.id, as: .other)
    }
    let registration = Registration(
      nickname: account.nickname, email: email, externalID: account.externalID,
      credential: credential, commitmentKey: Self.randomBytes(Registration.commitmentKeyBytes))
    let outcome = try await perform(register(account.id, registration, by: principal))
    return (outcome, email)
  }

  /// A registration without a password, as used by bulk ingest.
  package func register(
    _ id: UserID, _ registration: Registration, by principal: Principal, originalTime: Timestamp? = nil
  ) -> Request {
    var actor = principal
    actor.user = id
    return Request(actor, .user(id, .account(.register(registration))), originalTime: originalTime)
  }

  /// - Parameter edit: if it sets a picture that the user cannot see, the command is rejected with `mediaNotFound`.
  package func changeProfile(
    _ edit: ProfileEdit, by principal: Principal, command: CommandID?, if precondition: Precondition? = nil
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.account(.changeProfile(edit)), by: principal, command: command, if: precondition)
  }

  /// A command on the acting user's own stream.
  func performUser(
    _ userCommand: UserCommand, by principal: Principal, command: CommandID? = nil, if precondition: Precondition? = nil
  ) async throws(ServiceError) -> ChatOutcome {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    return try await perform(
      Request(principal, .user(user, userCommand), command: command, precondition: precondition))
  }

  package static func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
