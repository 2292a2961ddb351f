import ChatPrimitives

extension UserDecider {
  /// Anyone may register under an ID of their own. Who comes without a password, or under the key of a team's own
  /// database, is vouched for by a service.
  static func authorize(_ registration: Registration, of user: UserID, by act: Act) throws(Rejection) {
    guard act.isByService || act.actor == nil || act.actor == user else { throw .forbidden }
    guard act.isByService || registration.externalID == nil else { throw .serviceOnly }
  }

  /// Without an e-mail address and with a password it is a guest; whether there may be guests is the operator's to say,
  /// and was looked at before.
  static func register(
    _ registration: Registration, by act: Act, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<UserEvent> {
    // First, because a registration without a password shows nothing of who repeats it.
    guard act.isByService || registration.credential != nil else { throw .credentialIncomplete }
    if case .registered(let user) = state {
      guard user.registrationFingerprint == registration.fingerprint else { throw .idInUse }
      // Only a caller who has shown the password learns this.
      guard user.disabled == nil || act.isByService else { throw .accountDisabled }
      return .alreadyDone(user.registered)
    }
    try checkForm(
      nickname: registration.nickname, email: registration.email, externalID: registration.externalID,
      hasPassword: registration.credential != nil)
    try checkUniqueness(of: registration, directory)
    return .record([.registered(registration)])
  }

  /// The ID token vouches for the user. Of two first logins at once one finds the login taken, and looks again.
  static func register(
    _ registration: Registration, as identity: Identity, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<UserEvent> {
    guard directory.user(with: identity) == nil else { throw .identityInUse }
    if case .registered = state { throw .idInUse }
    try checkForm(
      nickname: registration.nickname, email: registration.email, externalID: registration.externalID,
      hasPassword: registration.credential != nil)
    try checkUniqueness(of: registration, directory)
    return .record([.registered(registration), .identityLinked(identity)])
  }

  private static func checkUniqueness(
    of registration: Registration, _ directory: borrowing some Directory
  ) throws(Rejection) {
    if let email = registration.email {
      guard directory.user(withEmail: email) == nil else { throw .emailInUse }
    }
    if let externalID = registration.externalID {
      guard directory.user(withExternalID: externalID) == nil else { throw .externalIDInUse }
    }
  }

  /// What of a registration is right or wrong whatever the state is. Also for those who come before a decision: hashing
  /// a password costs much, and a malformed registration should cost nothing.
  /// - Parameter email: in lower case.
  package static func checkForm(
    nickname: String, email: String?, externalID: String?, hasPassword: Bool
  ) throws(Rejection) {
    try TextRules.nickname(nickname)
    guard email == nil || hasPassword else { throw .credentialIncomplete }
    if let email { try TextRules.email(email) }
    if let externalID { try TextRules.externalID(externalID) }
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func changeProfile(_ edit: ProfileEdit) throws(Rejection) -> Verdict<UserEvent> {
    if let nickname = edit.nickname { try TextRules.nickname(nickname) }
    return .record([.profileChanged(edit)])
  }

  /// The address is a name to log in by, so it needs a password. A guest who gives one is a guest no more.
  static func setEmail(
    _ email: String, of user: User, id: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<UserEvent> {
    try TextRules.email(email)
    guard user.credential != nil else { throw .passwordMissing }
    if let holder = directory.user(withEmail: email), holder != id { throw .emailInUse }
    return .record([.emailSet(email)])
  }

  /// Whoever links a login can come back by it for ever, so a session alone does not do it: who has a password shows
  /// that, who has none another login of the account.
  static func authorizeLinking(to user: User, _ proof: LoginProof, by act: Act) throws(Rejection) {
    if act.isByService { return }
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

  /// A login elsewhere stands for one user here. Under a key it is recorded also when it is linked already: the fact
  /// carries the key, by which a late retry is known after the login was unlinked.
  static func link(
    _ identity: Identity, to user: User, id: UserID, by act: Act, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<UserEvent> {
    if let linked = user.identities[identity] {
      return act.command == nil ? .alreadyDone(linked) : .record([.identityLinked(identity)])
    }
    guard directory.user(with: identity) == nil else { throw .identityInUse }
    guard user.identities.count < Limits.identitiesPerUser else { throw .tooManyIdentities }
    return .record([.identityLinked(identity)])
  }

  /// Nobody locks themselves out; a service may take the last way in.
  static func unlink(
    _ identity: Identity, from user: User, by act: Act
  ) throws(Rejection) -> Verdict<UserEvent> {
    guard let linked = user.identities[identity] else { throw .identityNotFound }
    guard act.isByService || user.hasOtherWayIn(than: identity) else { throw .lastLogin }
    return .record([.identityUnlinked(identity, linked: linked.position)])
  }

  /// Recorded even when the account is disabled already: the fact carries the idempotency key.
  static func disable(_ user: User) -> Verdict<UserEvent> {
    .record([.disabled] + user.openSessions.sorted().map { .sessionEnded($0, .accountDisabled) })
  }
}
