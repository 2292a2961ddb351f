import ChatPrimitives

extension UserDecider {
  /// Anyone may register under an ID of their own. Who comes without a password, or under the key of a team's own
  /// database, is vouched for by a service.
  static func authorize(_ registration: Registration, of user: UserID, by act: Act) throws(Rejection) {
    guard act.isByService || act.actor == nil || act.actor == user else { throw .forbidden }
    guard act.isByService || registration.externalID == nil else { throw .serviceOnly }
  }

  static func register(
    _ registration: Registration, by act: Act, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<UserEvent> {
    if case .registered(let user) = state {
      guard user.registrationFingerprint == registration.fingerprint else { throw .idInUse }
      return .alreadyDone(user.registered)
    }
    try checkForm(
      nickname: registration.nickname, email: registration.email, externalID: registration.externalID,
      hasPassword: registration.credential != nil)
    guard act.isByService || registration.email != nil else { throw .credentialIncomplete }
    if let email = registration.email {
      guard directory.user(withEmail: email) == nil else { throw .emailInUse }
    }
    if let externalID = registration.externalID {
      guard directory.user(withExternalID: externalID) == nil else { throw .externalIDInUse }
    }
    return .record([.registered(registration)])
  }

  /// What of a registration is right or wrong whatever the state is. Also for those who come before a decision: hashing
  /// a password costs much, and a malformed registration should cost nothing.
  /// - Parameter email: in lower case.
  package static func checkForm(
    nickname: String, email: String?, externalID: String?, hasPassword: Bool
  ) throws(Rejection) {
    try TextRules.nickname(nickname)
    guard (email != nil) == hasPassword else { throw .credentialIncomplete }
    if let email { try TextRules.email(email) }
    if let externalID { try TextRules.externalID(externalID) }
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func changeProfile(nickname: String) throws(Rejection) -> Verdict<UserEvent> {
    try TextRules.nickname(nickname)
    return .record([.profileChanged(Profile(nickname: nickname))])
  }
}
