package import ChatPrimitives

extension UserEvent {
  /// What a user logs in with.
  package enum Logins: Sendable, Equatable {
    /// A new password; its version is one more than that of the password before.
    case credentialSet(Credential)
    /// A login at an identity provider stands for this user.
    case identityLinked(Identity)
    /// It stands for nobody any more.
    /// - Parameters:
    ///   - identity: nil when the payload was erased.
    ///   - linked: where it was linked. The envelope has it, so an erasure does not bring the login back.
    case identityUnlinked(Identity?, linked: LogPosition)
  }
}

/// Who a user is elsewhere: unique across users.
package struct Identity: Sendable, Hashable {
  /// The `iss` of its ID tokens (OpenID Connect Core 1.0, section 2).
  package var issuer: String
  /// The `sub`.
  package var subject: String

  package init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }

  /// By bytes, as the names and the read models tell logins apart: two ways to write one letter are two logins.
  package static func == (one: Identity, other: Identity) -> Bool {
    one.issuer.utf8.elementsEqual(other.issuer.utf8) && one.subject.utf8.elementsEqual(other.subject.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in issuer.utf8 { hasher.combine(byte) }
    for byte in subject.utf8 { hasher.combine(byte) }
  }
}

/// A password as scrypt leaves it. The salt is derived from the server's key and the user's ID, so that the same
/// password gives the same hash and a repeated registration can be recognised.
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

// MARK: - Decide

extension UserDecider {
  /// The current password was checked outside, against one version of the credential; here it must still be the current
  /// one.
  static func authorizeByPassword(of user: User, _ checked: UInt32?, by context: CommandContext) throws(Rejection) {
    guard let checked else {
      guard context.isByService else { throw .serviceOnly }
      return
    }
    guard let credential = user.credential, credential.version == checked else { throw .passwordWrong }
  }

  /// All sessions end but the one that asks. A new password that is the current one already is a repeat.
  static func changePassword(
    to credential: Credential, checked: UInt32, of user: User, by context: CommandContext
  ) throws(Rejection) -> Decision<UserEvent> {
    if let repeated = repeatedSetting(of: credential, user) { return repeated }
    guard credential.version == checked &+ 1 else { throw .passwordWrong }
    return setting(credential, of: user, keeping: context.session)
  }

  /// The token is good for one new password: setting it makes another version, and the token was made for this one.
  static func resetPassword(
    to credential: Credential, issuedFor version: UInt32, of user: User
  ) throws(Rejection) -> Decision<UserEvent> {
    if let repeated = repeatedSetting(of: credential, user) { return repeated }
    guard (user.credential?.version ?? 0) == version, credential.version == version &+ 1 else {
      throw .passwordResetUsed
    }
    return setting(credential, of: user, keeping: nil)
  }

  private static func repeatedSetting(of credential: Credential, _ user: User) -> Decision<UserEvent>? {
    guard user.credential == credential, let stamp = user.credentialSet else { return nil }
    return .alreadyDone(stamp)
  }

  /// In the order of the sessions' IDs, so that the same command gives the same events.
  private static func setting(
    _ credential: Credential, of user: User, keeping session: SessionID?
  ) -> Decision<UserEvent> {
    let ended = user.openSessions.filter { $0 != session }.sorted()
    return .record([.logins(.credentialSet(credential))] + ended.map { .sessions(.ended($0, .passwordChanged)) })
  }

  /// Whoever links a login can come back by it for ever, so a session alone does not do it: who has a password shows
  /// that, who has none another login of the account.
  static func authorizeLinking(to user: User, _ proof: LoginProof, by context: CommandContext) throws(Rejection) {
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

  /// A login elsewhere stands for one user here. Under a key it is recorded also when it is linked already: the event
  /// carries the key, by which a late retry is known after the login was unlinked.
  static func link(
    _ identity: Identity, to user: User, id: UserID, by context: CommandContext, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    if let linked = user.identities[identity] {
      return context.command == nil ? .alreadyDone(linked) : .record([.logins(.identityLinked(identity))])
    }
    guard directory.user(with: identity) == nil else { throw .identityInUse }
    guard user.identities.count < Limits.identitiesPerUser else { throw .tooManyIdentities }
    return .record([.logins(.identityLinked(identity))])
  }

  /// Nobody locks themselves out; a service may take the last way in.
  static func unlink(
    _ identity: Identity, from user: User, by context: CommandContext
  ) throws(Rejection) -> Decision<UserEvent> {
    guard let linked = user.identities[identity] else { throw .identityNotFound }
    guard context.isByService || user.hasOtherWayIn(than: identity) else { throw .lastLogin }
    return .record([.logins(.identityUnlinked(identity, linked: linked.position))])
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
