import ChatPrimitives

extension UserDecider {
  /// The current password was checked outside, against one version of the credential; here it must still be the current
  /// one.
  static func authorizeByPassword(of user: User, _ checked: UInt32?, by act: Act) throws(Rejection) {
    guard let checked else {
      guard act.isByService else { throw .serviceOnly }
      return
    }
    guard let credential = user.credential, credential.version == checked else { throw .passwordWrong }
  }

  /// All sessions end but the one that asks. A new password that is the current one already is a repeat.
  static func changePassword(
    to credential: Credential, checked: UInt32, of user: User, by act: Act
  ) throws(Rejection) -> Verdict<UserEvent> {
    if let repeated = repeatedSetting(of: credential, user) { return repeated }
    guard credential.version == checked &+ 1 else { throw .passwordWrong }
    return setting(credential, of: user, keeping: act.session)
  }

  /// The token is good for one new password: setting it makes another version, and the token was made for this one.
  static func resetPassword(
    to credential: Credential, issuedFor version: UInt32, of user: User
  ) throws(Rejection) -> Verdict<UserEvent> {
    if let repeated = repeatedSetting(of: credential, user) { return repeated }
    guard (user.credential?.version ?? 0) == version, credential.version == version &+ 1 else {
      throw .passwordResetUsed
    }
    return setting(credential, of: user, keeping: nil)
  }

  private static func repeatedSetting(of credential: Credential, _ user: User) -> Verdict<UserEvent>? {
    guard user.credential == credential, let stamp = user.credentialSet else { return nil }
    return .alreadyDone(stamp)
  }

  /// In the order of the sessions' IDs, so that the same command gives the same facts.
  private static func setting(
    _ credential: Credential, of user: User, keeping session: SessionID?
  ) -> Verdict<UserEvent> {
    let ended = user.openSessions.filter { $0 != session }.sorted()
    return .record([.credentialSet(credential)] + ended.map { .sessionEnded($0, .passwordChanged) })
  }
}
