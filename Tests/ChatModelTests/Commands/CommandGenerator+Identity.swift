import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  /// The user's current password; nil if the user has none or the generator does not know it.
  func password(of user: UserID, _ model: ChatModel) -> String? {
    guard let version = model.users[user]?.credential?.version else { return nil }
    return passwords[user]?[version]
  }

  mutating func changePassword(_ model: ChatModel) -> Step? {
    let user = anyone()
    guard let version = model.users[user]?.credential?.version, let current = password(of: user, model) else {
      return nil
    }
    let (new, key) = ("new password \(random.below(1_000_000))", key())
    let given = chance(90) ? current : "not \(current)"
    if given == current { passwords[user]?[version + 1] = new }
    let session = pick(model.users[user]?.openSessions ?? [])?.id
    return changePassword(of: user, version, from: given, to: new, session, key)
  }

  /// - Parameter version: of the password before the change.
  func changePassword(
    of user: UserID, _ version: UInt32, from given: String, to new: String, _ session: SessionID?, _ key: CommandID
  ) -> Step {
    let rights: [Right] = [
      session.map { .session($0) } ?? .account, .password(version: version + 1, else: "password_wrong"),
    ]
    return Step("u\(user.short) changes the password under k\(key.short)", user: user, rights: rights) {
      chat async throws(ServiceError) in
      let principal = Principal(user: user, session: session)
      return Step.Receipt(try await chat.changePassword(from: given, to: new, by: principal, command: key))
    }
  }

  /// Resets a password with a token that was issued for the current credential, or for the one before.
  mutating func resetPassword(_ model: ChatModel) -> Step? {
    let user = anyone()
    guard let version = model.users[user]?.credential?.version, chance(40) else { return nil }
    let issuedFor = chance(80) ? version : version - 1
    if issuedFor == version { passwords[user]?[version + 1] = nil }
    let credential = Credential(
      version: issuedFor + 1, hash: (0..<32).map { _ in UInt8(random.below(256)) }, logRounds: 4, blockSize: 8,
      parallelism: 1)
    let command = UserCommand.logins(.resetPassword(credential, issuedFor: issuedFor))
    let rights: [Right] = [.account, .password(version: issuedFor + 1, else: "password_reset_used")]
    return Step("u\(user.short) resets password \(issuedFor)", user: user, rights: rights) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.perform(ChatService.Request(Principal(user: user), .user(user, command))))
    }
  }

  mutating func setEmail(_ model: ChatModel) -> Step? {
    let user = anyone()
    let email = "New\(random.below(30))@example.org"
    return setEmail(email, of: user, password(of: user, model), version: model.users[user]?.credential?.version ?? 0)
  }

  mutating func setEmail(_ email: String, of user: UserID, _ password: String?, version: UInt32) -> Step {
    let key = key()
    let rights: [Right] = [.account, .password(version: version, else: "password_wrong")]
    return Step("u\(user.short) sets the address \(email) under k\(key.short)", user: user, rights: rights) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.setEmail(email, password: password, by: Principal(user: user), command: key).0)
    }
  }

  // MARK: - External logins

  private mutating func identity() -> Identity {
    Identity(issuer: "https://issuer.example", subject: "subject \(random.below(8))")
  }

  /// Logs in with an identity. The first login with it creates the account.
  mutating func logInElsewhere(_ model: ChatModel) -> Step? {
    let (identity, session): (Identity, SessionID) = (identity(), newID())
    let known = model.users.values.first { $0.identities.contains(identity) }?.id
    let newcomer = Numbered.user(100 + Int(session.uuid.low))
    let user = known ?? newcomer
    let name = "\(identity.subject) logs in as s\(session.short), new user u\(newcomer.short)"
    return Step(name, user: user, rights: [.account, .session(session), .firstPair(session)]) {
      chat async throws(ServiceError) in
      Step.Receipt(
        try await chat.startSession(
          .given(session), as: identity, nickname: "elsewhere", newUser: newcomer, device: nil))
    }
  }

  mutating func linkIdentity(_ model: ChatModel) -> Step? {
    link(identity(), to: anyone(), key())
  }

  /// A service links the identity: it needs no proof, and can act as a disabled user too. `UserIdentitySpecs` covers
  /// what a user must prove.
  func link(_ identity: Identity, to user: UserID, _ key: CommandID) -> Step {
    Step("a service links \(identity.subject) to u\(user.short) under k\(key.short)", user: user, rights: []) {
      chat async throws(ServiceError) in
      let asService = Principal(user: user, service: ServiceID(UUIDBytes(high: 9, low: 9)))
      return Step.Receipt(try await chat.link(identity, proof: nil, by: asService, command: key))
    }
  }

  /// Unlinks an identity for good: a later login with it creates another user.
  func unlink(_ identity: Identity, of user: UserID, _ key: CommandID) -> Step {
    Step("u\(user.short) unlinks \(identity.subject) under k\(key.short)", user: user) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.unlink(identity, by: Principal(user: user), command: key))
    }
  }

  // MARK: - Commands of operators

  mutating func disable(_ model: ChatModel) -> Step? {
    disable(anyone())
  }

  mutating func disable(_ user: UserID) -> Step {
    let key = key()
    return Step("a service disables u\(user.short) under k\(key.short)", user: user, rights: []) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.disable(user, by: Principal(service: Numbered.service), command: key))
    }
  }

  mutating func enable(_ model: ChatModel) -> Step? {
    let disabled = users.filter { model.users[$0]?.disabled != nil }
    guard let user = pick(disabled) ?? (chance(10) ? anyone() : nil) else { return nil }
    return enable(user)
  }

  mutating func enable(_ user: UserID) -> Step {
    let key = key()
    return Step("a service enables u\(user.short) under k\(key.short)", user: user, rights: []) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.enable(user, by: Principal(service: Numbered.service), command: key))
    }
  }

  mutating func endSessions(_ model: ChatModel) -> Step? {
    let user = anyone()
    guard let session = pick(model.users[user]?.openSessions ?? [])?.id else { return nil }
    let (selection, key): (SessionSelection, CommandID) = (chance(50) ? .others : .all, key())
    let name = "u\(user.short) ends \(selection) of s\(session.short) under k\(key.short)"
    return Step(name, user: user, rights: [.session(session)]) {
      chat async throws(ServiceError) in
      let principal = Principal(user: user, session: session)
      return Step.Receipt(try await chat.endSessions(selection, of: user, by: principal, command: key))
    }
  }

  mutating func rotateSigningKey(_ model: ChatModel) -> Step? { rotateSigningKey() }

  mutating func rotateSigningKey() -> Step {
    let key = key()
    return Step("a service rotates the signing key under k\(key.short)", user: nil, rights: []) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.rotateSigningKey(by: Principal(service: Numbered.service), command: key))
    }
  }
}
