package import ChatPrimitives

extension UserEvent {
  package enum Account: Sendable, Equatable {
    case registered(Registration)
    case profileChanged(ProfileEdit)
    case emailSet(String)
    /// The user cannot log in, and all sessions ended.
    case disabled
    case enabled
    case preferencesSet(UserPreferences)
  }
}

/// What a user is registered with.
package struct Registration: Sendable, Equatable {
  /// Bytes of a commitment key.
  package static let commitmentKeyBytes = 32

  package var nickname: String
  /// Lower-cased; unique. Never present without a credential; a guest has a credential and no address.
  package var email: String?
  /// The key that a team's own database has for the user; unique.
  package var externalID: String?
  package var credential: Credential?
  /// `commitmentKeyBytes` random bytes from which the salts of the author's records are made (see `docs/log-format.md`).
  package var commitmentKey: [UInt8]

  package init(
    nickname: String, email: String?, externalID: String?, credential: Credential?, commitmentKey: [UInt8]
  ) {
    self.nickname = nickname
    self.email = email
    self.externalID = externalID
    self.credential = credential
    self.commitmentKey = commitmentKey
  }

  /// The same request makes the same fingerprint: the commitment key, drawn anew for each, is left out.
  package var fingerprint: Fingerprint {
    Fingerprint(.text(nickname), .text(email), .text(externalID), .bytes(credential?.hash ?? []))
  }
}

/// What others see of a user.
package struct Profile: Sendable, Hashable {
  package var nickname: String
  package var picture: MediaID?

  package init(nickname: String, picture: MediaID? = nil) {
    self.nickname = nickname
    self.picture = picture
  }
}

/// What a change of the profile says: what is absent stays as it is.
package struct ProfileEdit: Sendable, Hashable {
  package var nickname: String?
  package var picture: PictureEdit?

  package init(nickname: String? = nil, picture: PictureEdit? = nil) {
    self.nickname = nickname
    self.picture = picture
  }

  package var isEmpty: Bool { nickname == nil && picture == nil }
}

extension PictureEdit {
  /// The picture after the change; nil without one.
  package var media: MediaID? {
    switch self {
    case .set(let media): media
    case .remove: nil
    }
  }
}

/// What a user wants of the server.
package struct UserPreferences: Sendable, Hashable {
  /// Others see how far the user has read.
  package var sharesReadMarkers: Bool

  package init(sharesReadMarkers: Bool = true) {
    self.sharesReadMarkers = sharesReadMarkers
  }
}

extension UserEvent.Account: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .registered(let registration): registration.fingerprint
    case .profileChanged(let edit): .profileChange(edit)
    case .emailSet(let email): .emailSetting(email)
    case .disabled: .disabling
    case .enabled: .enabling
    case .preferencesSet(let preferences): .preferenceSetting(preferences)
    }
  }

  var textBytes: Int {
    switch self {
    case .registered(let registration):
      registration.nickname.byteCount + registration.email.byteCount + registration.externalID.byteCount
    case .profileChanged(let edit): edit.nickname.byteCount
    case .emailSet(let email): email.byteCount
    case .disabled, .enabled, .preferencesSet: 0
    }
  }
}

extension Fingerprint {
  /// A mere change of the nickname is told as it always was.
  static func profileChange(_ edit: ProfileEdit) -> Fingerprint {
    let plain: [Field] = [.text("profile.change"), .text(edit.nickname)]
    return Fingerprint(edit.picture.map { plain + [.id($0.media?.uuid)] } ?? plain)
  }

  static func emailSetting(_ email: String) -> Fingerprint { Fingerprint(.text("email.set"), .text(email)) }
  static var disabling: Fingerprint { Fingerprint(.text("user.disable")) }
  static var enabling: Fingerprint { Fingerprint(.text("user.enable")) }

  static func preferenceSetting(_ preferences: UserPreferences) -> Fingerprint {
    Fingerprint(.text("preferences.set"), .number(preferences.sharesReadMarkers ? 1 : 0))
  }
}

// MARK: - Decide

extension UserDecider {
  /// Anyone may register under an ID of their own. Who comes without a password, or under the key of a team's own
  /// database, is vouched for by a service.
  static func authorize(_ registration: Registration, of user: UserID, by context: CommandContext) throws(Rejection) {
    guard context.isByService || context.actor == nil || context.actor == user else { throw .forbidden }
    guard context.isByService || registration.externalID == nil else { throw .serviceOnly }
  }

  /// Without an e-mail address and with a password it is a guest; whether there may be guests is the operator's to say,
  /// and was looked at before.
  static func register(
    _ registration: Registration, by context: CommandContext, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    // First, because a registration without a password shows nothing of who repeats it.
    guard context.isByService || registration.credential != nil else { throw .credentialIncomplete }
    if case .registered(let user) = state {
      guard user.registrationFingerprint == registration.fingerprint else { throw .idInUse }
      // Only a caller who has shown the password learns this.
      guard user.disabled == nil || context.isByService else { throw .accountDisabled }
      return .alreadyDone(user.registered)
    }
    try checkForm(
      nickname: registration.nickname, email: registration.email, externalID: registration.externalID,
      hasPassword: registration.credential != nil)
    try checkUniqueness(of: registration, directory)
    return .record([.account(.registered(registration))])
  }

  /// The ID token vouches for the user. Of two first logins at once one finds the login taken, and looks again.
  static func register(
    _ registration: Registration, as identity: Identity, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    guard directory.user(with: identity) == nil else { throw .identityInUse }
    if case .registered = state { throw .idInUse }
    try checkForm(
      nickname: registration.nickname, email: registration.email, externalID: registration.externalID,
      hasPassword: registration.credential != nil)
    try checkUniqueness(of: registration, directory)
    return .record([.account(.registered(registration)), .logins(.identityLinked(identity))])
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

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
  static func changeProfile(_ edit: ProfileEdit) throws(Rejection) -> Decision<UserEvent> {
    if let nickname = edit.nickname { try TextRules.nickname(nickname) }
    return .record([.account(.profileChanged(edit))])
  }

  /// The address is a name to log in by, so it needs a password. A guest who gives one is a guest no more.
  static func setEmail(
    _ email: String, of user: User, id: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    try TextRules.email(email)
    guard user.credential != nil else { throw .passwordMissing }
    if let holder = directory.user(withEmail: email), holder != id { throw .emailInUse }
    return .record([.account(.emailSet(email))])
  }

  /// Recorded even when the account is disabled already: the event carries the idempotency key.
  static func disable(_ user: User) -> Decision<UserEvent> {
    .record([.account(.disabled)] + user.openSessions.sorted().map { .sessions(.ended($0, .accountDisabled)) })
  }
}

// MARK: - Evolve

extension User {
  mutating func apply(_ event: UserEvent.Account, _ stamp: Stamp) {
    switch event {
    case .registered:
      break
    case .profileChanged(let edit):
      profile.apply(edit)
      revision = stamp.position
    case .emailSet(let email):
      self.email = email
      revision = stamp.position
    case .disabled:
      if disabled == nil { disabled = stamp }
    case .enabled:
      disabled = nil
    case .preferencesSet(let preferences):
      self.preferences = preferences
    }
  }
}
