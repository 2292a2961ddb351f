package import ChatPrimitives

extension UserEvent {
  /// What a user logs in with.
  package enum Logins: Sendable, Equatable {
    /// A new password; its version is one more than that of the password before.
    case credentialSet(Credential)
    /// A login at an identity provider belongs to this user.
    case identityLinked(Identity)
    /// The login no longer belongs to any user.
    /// - Parameters:
    ///   - identity: nil if the payload was erased.
    ///   - linked: where it was linked. It is in the envelope, so an erasure does not restore the login.
    case identityUnlinked(Identity?, linked: LogPosition)
  }
}

/// A user's login at an identity provider: unique across users.
package struct Identity: Sendable, Hashable {
  /// The `iss` of its ID tokens (OpenID Connect Core 1.0, section 2).
  package var issuer: String
  /// The `sub`.
  package var subject: String

  package init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }

  /// Compares bytes, as the table of unique names and the read models do: two ways to write one letter are two logins.
  package static func == (one: Identity, other: Identity) -> Bool {
    one.issuer.utf8.elementsEqual(other.issuer.utf8) && one.subject.utf8.elementsEqual(other.subject.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in issuer.utf8 { hasher.combine(byte) }
    for byte in subject.utf8 { hasher.combine(byte) }
  }
}

/// A password, hashed by scrypt. The salt is derived from the server's key and the user's ID, so that the same password
/// gives the same hash and a repeated registration can be recognised.
package struct Credential: Sendable, Hashable {
  /// Counts the passwords that the user has had, from 1.
  package var version: UInt32
  package var hash: [UInt8]
  /// scrypt's cost parameters (RFC 7914): N as its base-2 logarithm, r and p.
  package var logRounds: UInt8
  package var blockSize: UInt8
  package var parallelism: UInt8

  package init(version: UInt32, hash: [UInt8], logRounds: UInt8, blockSize: UInt8, parallelism: UInt8) {
    self.version = version
    self.hash = hash
    self.logRounds = logRounds
    self.blockSize = blockSize
    self.parallelism = parallelism
  }
}

extension UserEvent.Logins: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .credentialSet(let credential): .credentialSetting(credential)
    case .identityLinked(let identity): .identityLink(identity)
    case .identityUnlinked(let identity, _): identity.map { .identityUnlink($0) }
    }
  }

  var textBytes: Int {
    switch self {
    case .identityLinked(let identity): identity.textBytes
    case .identityUnlinked(let identity, _): identity?.textBytes ?? 0
    case .credentialSet: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .credentialSet, .identityUnlinked: true
    case .identityLinked: false
    }
  }
}

extension Fingerprint {
  static func credentialSetting(_ credential: Credential) -> Fingerprint {
    Fingerprint(.text("credential.set"), .number(Int64(credential.version)), .bytes(credential.hash))
  }

  static func identityLink(_ identity: Identity) -> Fingerprint {
    Fingerprint(.text("identity.link"), .text(identity.issuer), .text(identity.subject))
  }

  static func identityUnlink(_ identity: Identity) -> Fingerprint {
    Fingerprint(.text("identity.unlink"), .text(identity.issuer), .text(identity.subject))
  }
}

// MARK: - Commands

extension UserCommand {
  package enum Logins: Sendable, Equatable {
    /// Sets a new password and ends the other sessions.
    /// - checked: the version of the credential that the current password was checked against.
    case changePassword(Credential, checked: UInt32)
    /// Sets a new password with a token that a service requested, and ends every session.
    /// - issuedFor: the version of the credential that the token was made for; zero if there was none.
    case resetPassword(Credential, issuedFor: UInt32)
    /// - proof: shows that the account's owner asks, in addition to the ID token that names the login.
    case link(Identity, proof: LoginProof)
    case unlink(Identity)
  }
}

/// How the user was identified before the decision. It must still hold when the command is decided.
package enum LoginProof: Sendable, Hashable {
  /// The password was checked against this version of the credential.
  case password(version: UInt32)
  /// An ID token was checked, and names this login.
  case identity(Identity)
  /// A service vouches for the user.
  case service
}

extension UserCommand.Logins: AggregateCommand {
  package typealias Entity = UserCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .changePassword(let credential, _), .resetPassword(let credential, _): .credentialSetting(credential)
    case .link(let identity, _): .identityLink(identity)
    case .unlink(let identity): .identityUnlink(identity)
    }
  }

  /// A reset is recognised by the version of the credential that its token was made for.
  package var isKnownByItself: Bool {
    switch self {
    case .resetPassword: true
    case .changePassword, .link, .unlink: false
    }
  }
}

// MARK: - Decide

extension UserDecider {
  func decide(
    _ command: UserCommand.Logins, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    switch command {
    case .changePassword(let credential, let checked): try changePassword(to: credential, checked: checked)
    case .resetPassword(let credential, let version): try resetPassword(to: credential, issuedFor: version)
    case .link(let identity, let proof): try link(identity, proof, directory)
    case .unlink(let identity): try unlink(identity)
    }
  }

  /// All sessions end except the one that sends the request. If the new password is already the current one, this is a
  /// retry. Then the checked version is no longer current, and need not be.
  private func changePassword(to credential: Credential, checked: UInt32) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    try requirePassword(of: user, checked: user.credential == credential ? credential.version : checked)
    if let done = try doneBefore() { return done }
    if let earlier = earlierSetting(of: credential, user) { return earlier }
    guard credential.version == checked &+ 1 else { throw .passwordWrong }
    return setting(credential, of: user, keeping: context.session)
  }

  /// A token can set one new password: it is valid for one version of the credential, and setting a password creates
  /// the next version.
  private func resetPassword(
    to credential: Credential, issuedFor version: UInt32
  ) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let earlier = earlierSetting(of: credential, user) { return earlier }
    guard (user.credential?.version ?? 0) == version, credential.version == version &+ 1 else {
      throw .passwordResetUsed
    }
    return setting(credential, of: user, keeping: nil)
  }

  private func earlierSetting(of credential: Credential, _ user: User) -> Decision<UserEvent>? {
    guard user.credential == credential, let stamp = user.credentialSet else { return nil }
    return .alreadyDone(stamp)
  }

  /// In the order of the sessions' IDs, so that the same command gives the same events.
  private func setting(
    _ credential: Credential, of user: User, keeping session: SessionID?
  ) -> Decision<UserEvent> {
    let ended = user.openSessions.filter { $0 != session }.sorted()
    return .record([.logins(.credentialSet(credential))] + ended.map { .sessions(.ended($0, .passwordChanged)) })
  }

  /// The current password was checked before the decision, against one version of the credential. That version must
  /// still be the current one.
  /// - Parameter checked: the version; nil if a service vouches for the user.
  func requirePassword(of user: User, checked: UInt32?) throws(Rejection) {
    guard let checked else {
      guard context.isByService else { throw .serviceOnly }
      return
    }
    guard let credential = user.credential, credential.version == checked else { throw .passwordWrong }
  }

  /// A login at an identity provider belongs to one user. Under a key the event is recorded even if the login is linked
  /// already, so that a late retry is recognised after the login was unlinked.
  private func link(
    _ identity: Identity, _ proof: LoginProof, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    try requireRightToLink(to: user, proof)
    if let done = try doneBefore() { return done }
    if let linked = user.identities[identity] {
      return context.command == nil ? .alreadyDone(linked) : .record([.logins(.identityLinked(identity))])
    }
    guard directory.user(with: identity) == nil else { throw .identityInUse }
    guard user.identities.count < Limits.identitiesPerUser else { throw .tooManyIdentities }
    return .record([.logins(.identityLinked(identity))])
  }

  /// A linked login gives lasting access to the account, so a session alone is not enough to link one. A user with a
  /// password must show it. A user without one must show another login of the account.
  private func requireRightToLink(to user: User, _ proof: LoginProof) throws(Rejection) {
    if context.isByService { return }
    switch proof {
    case .password(let version):
      guard let credential = user.credential, credential.version == version else { throw .passwordWrong }
    case .identity(let identity):
      guard user.credential == nil else { throw .passwordWrong }
      guard user.identities[identity] != nil else { throw .linkedLoginRequired }
    case .service:
      throw user.credential == nil ? .linkedLoginRequired : .passwordWrong
    }
  }

  /// Users cannot lock themselves out. A service may remove the last login.
  private func unlink(_ identity: Identity) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let done = try doneBefore() { return done }
    guard let linked = user.identities[identity] else { throw .identityNotFound }
    guard context.isByService || user.canLogIn(without: identity) else { throw .lastLogin }
    return .record([.logins(.identityUnlinked(identity, linked: linked.position))])
  }
}

extension User {
  /// Whether the user can log in without this identity.
  fileprivate func canLogIn(without identity: Identity) -> Bool {
    credential != nil || externalID != nil || identities.keys.contains { $0 != identity }
  }
}

// MARK: - Evolve

extension User {
  mutating func apply(_ event: UserEvent.Logins, _ stamp: Stamp) {
    switch event {
    case .credentialSet(let credential):
      self.credential = credential
      credentialSet = stamp
    case .identityLinked(let identity):
      if identities[identity] == nil { identities[identity] = stamp }
    case .identityUnlinked(_, let linked):
      identities = identities.filter { $0.value.position != linked }
    }
  }
}
