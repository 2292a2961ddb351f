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
    try TextRules.nickname(registration.nickname)
    guard (registration.email == nil) == (registration.credential == nil) else { throw .credentialIncomplete }
    guard act.isByService || registration.email != nil else { throw .credentialIncomplete }
    if let email = registration.email {
      try TextRules.email(email)
      guard directory.user(withEmail: email) == nil else { throw .emailInUse }
    }
    if let externalID = registration.externalID {
      try TextRules.externalID(externalID)
      guard directory.user(withExternalID: externalID) == nil else { throw .externalIDInUse }
    }
    return .record([.registered(registration)])
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func changeProfile(nickname: String) throws(Rejection) -> Verdict<UserEvent> {
    try TextRules.nickname(nickname)
    return .record([.profileChanged(nickname: nickname)])
  }
}
