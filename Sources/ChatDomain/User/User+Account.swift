package import ChatPrimitives

extension UserEvent {
  package enum Account: Sendable, Equatable {
    case registered(Registration)
    case profileChanged(ProfileEdit)
    case emailSet(String)
    /// The user can no longer log in, and all sessions ended.
    case disabled
    case enabled
    case preferencesSet(PreferencesEdit)
  }
}

/// What a user is registered with.
package struct Registration: Sendable, Equatable {
  /// Bytes of a commitment key.
  package static let commitmentKeyBytes = 32

  package var nickname: String
  /// Lower-cased; unique. Never present without a credential; a guest has a credential and no address.
  package var email: String?
  /// The user's key in a team's own database; unique.
  package var externalID: String?
  package var credential: Credential?
  /// `commitmentKeyBytes` random bytes from which the salts of the author's records are made (see
  /// `docs/log-format.md`).
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

  /// Equal for the same request: it leaves out the commitment key, which is random.
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

/// The new parts of a profile; nil leaves a part as it is.
package struct ProfileEdit: Sendable, Hashable {
  package var nickname: String?
  package var picture: PictureEdit?
  /// The app's own data, as canonical JSON. An empty text removes it.
  package var custom: String?

  package init(nickname: String? = nil, picture: PictureEdit? = nil, custom: String? = nil) {
    self.nickname = nickname
    self.picture = picture
    self.custom = custom
  }

  package var isEmpty: Bool { nickname == nil && picture == nil && custom == nil }
}

extension ProfileEdit {
  var fieldFlaws: [FieldFlaw] {
    var fields = FieldCheck()
    if let nickname { fields.check("/nickname") { () throws(Rejection) in try TextRules.nickname(nickname) } }
    if let custom { fields.check("/custom") { () throws(Rejection) in try TextRules.customData(custom) } }
    return fields.flaws
  }
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

extension UserEvent.Account: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .registered(let registration): registration.fingerprint
    case .profileChanged(let edit): .profileChange(edit)
    case .emailSet(let email): .emailSetting(email)
    case .disabled: .disabling
    case .enabled: .enabling
    case .preferencesSet(let edit): .preferenceSetting(edit)
    }
  }

  var textBytes: Int {
    switch self {
    case .registered(let registration):
      registration.nickname.byteCount + registration.email.byteCount + registration.externalID.byteCount
    case .profileChanged(let edit): edit.nickname.byteCount + edit.custom.byteCount
    case .emailSet(let email): email.byteCount
    case .preferencesSet(let edit): edit.textBytes
    case .disabled, .enabled: 0
    }
  }
}

extension Fingerprint {
  /// A change of the nickname alone keeps the fingerprint that it had before there were pictures, and a change without
  /// data the one that it had before there was data.
  static func profileChange(_ edit: ProfileEdit) -> Fingerprint {
    if let custom = edit.custom {
      return Fingerprint(
        [.text("profile.change-custom"), .text(edit.nickname), .text(custom)] + fields(of: edit.picture))
    }
    let plain: [Field] = [.text("profile.change"), .text(edit.nickname)]
    return Fingerprint(edit.picture.map { plain + [.id($0.media?.uuid)] } ?? plain)
  }

  static func emailSetting(_ email: String) -> Fingerprint { Fingerprint(.text("email.set"), .text(email)) }
  static var disabling: Fingerprint { Fingerprint(.text("user.disable")) }
  static var enabling: Fingerprint { Fingerprint(.text("user.enable")) }
}

// MARK: - Commands

extension UserCommand {
  package enum Account: Sendable, Equatable {
    case register(Registration)
    /// Registers a user whose ID token names an unknown login, and links that login to the account.
    case registerIdentified(Registration, Identity)
    case changeProfile(ProfileEdit)
    case setPreferences(PreferencesEdit)
    /// - checked: the version of the credential that the current password was checked against; nil if a service vouches
    ///   for the user.
    case setEmail(String, checked: UInt32?)
    case disable
    case enable
  }
}

extension UserCommand.Account: AggregateCommand {
  package typealias Entity = UserCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .register(let registration), .registerIdentified(let registration, _): registration.fingerprint
    case .changeProfile(let edit): .profileChange(edit)
    case .setPreferences(let edit): .preferenceSetting(edit)
    case .setEmail(let email, _): .emailSetting(email)
    case .disable: .disabling
    case .enable: .enabling
    }
  }

  package var fieldFlaws: [FieldFlaw] {
    switch self {
    case .changeProfile(let edit): edit.fieldFlaws
    case .register, .registerIdentified, .setPreferences, .setEmail, .disable, .enable: []
    }
  }

  /// A registration is recognised by the user's ID.
  package var isKnownByItself: Bool {
    switch self {
    case .register, .registerIdentified: true
    case .changeProfile, .setPreferences, .setEmail, .disable, .enable: false
    }
  }
}

// MARK: - Decide

/// All but registrations are recorded even when nothing changes: the event carries the idempotency key by which a late
/// retry is recognised.
extension UserDecider {
  func decide(
    _ command: UserCommand.Account, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    switch command {
    case .register(let registration): try register(registration, directory)
    case .registerIdentified(let registration, let identity): try register(registration, as: identity, directory)
    case .changeProfile(let edit): try changeProfile(edit)
    case .setPreferences(let edit): try setPreferences(edit)
    case .setEmail(let email, let checked): try setEmail(email, checked: checked, directory)
    case .disable: try disable()
    case .enable: try enable()
    }
  }

  /// A user with a password and without an e-mail address is a guest. `ChatService` checks whether guests are allowed.
  private func register(
    _ registration: Registration, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    try requireRightToRegister(registration)
    // Checked first, because a registration without a password does not prove who sends it.
    guard context.isByService || registration.credential != nil else { throw .credentialIncomplete }
    if case .deleted = state { throw .idInUse }
    if case .registered(let user) = state {
      guard user.registrationFingerprint == registration.fingerprint else { throw .idInUse }
      // Only a caller who has shown the password learns this.
      guard user.disabled == nil || context.isByService else { throw .accountDisabled }
      return .alreadyDone(user.registered)
    }
    try requireFormAndUniqueness(of: registration, directory)
    return .record([.account(.registered(registration))])
  }

  /// The ID token vouches for the user. If two first logins arrive at once, the second is rejected, and its caller
  /// looks the login up again.
  private func register(
    _ registration: Registration, as identity: Identity, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    try requireRightToRegister(registration)
    guard directory.user(with: identity) == nil else { throw .identityInUse }
    guard state == .absent else { throw .idInUse }
    try requireFormAndUniqueness(of: registration, directory)
    return .record([.account(.registered(registration)), .logins(.identityLinked(identity))])
  }

  /// Anyone may register under a new ID. Only a service may register a user with an `externalID`, which is the user's
  /// key in a team's own database.
  private func requireRightToRegister(_ registration: Registration) throws(Rejection) {
    guard context.isByService || context.actor == nil || context.actor == id else { throw .forbidden }
    guard context.isByService || registration.externalID == nil else { throw .serviceOnly }
  }

  private func requireFormAndUniqueness(
    of registration: Registration, _ directory: borrowing some Directory
  ) throws(Rejection) {
    try Self.flaws(
      nickname: registration.nickname, email: registration.email, externalID: registration.externalID,
      hasPassword: registration.credential != nil
    ).requireNone()
    if let email = registration.email {
      guard directory.user(withEmail: email) == nil else { throw .emailInUse }
    }
    if let externalID = registration.externalID {
      guard directory.user(withExternalID: externalID) == nil else { throw .externalIDInUse }
    }
  }

  /// What is wrong with a registration in every state. `ChatService` calls it before it hashes
  /// the password: hashing is expensive, and a malformed registration should cost nothing.
  /// - Parameter email: in lower case.
  package static func flaws(
    nickname: String, email: String?, externalID: String?, hasPassword: Bool
  ) -> [FieldFlaw] {
    var fields = FieldCheck()
    fields.check("/nickname") { () throws(Rejection) in try TextRules.nickname(nickname) }
    fields.check("") { () throws(Rejection) in
      guard email == nil || hasPassword else { throw .credentialIncomplete }
    }
    if let email { fields.check("/email") { () throws(Rejection) in try TextRules.email(email) } }
    if let externalID { fields.check("/externalId") { () throws(Rejection) in try TextRules.externalID(externalID) } }
    return fields.flaws
  }

  private func changeProfile(_ edit: ProfileEdit) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let done = try doneBefore() { return done }
    try edit.fieldFlaws.requireNone()
    return .record([.account(.profileChanged(edit))], revision: user.revision)
  }

  private func setPreferences(_ edit: PreferencesEdit) throws(Rejection) -> Decision<UserEvent> {
    _ = try authorizedUser()
    if let done = try doneBefore() { return done }
    if let hours = edit.quietHours?.hours { try TextRules.quietHours(hours) }
    return .record([.account(.preferencesSet(edit))])
  }

  /// The address is a name to log in with, so it needs a password. A guest who sets an address is no longer a guest.
  private func setEmail(
    _ email: String, checked: UInt32?, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    try requirePassword(of: user, checked: checked)
    if let done = try doneBefore() { return done }
    try TextRules.email(email)
    guard user.credential != nil else { throw .passwordMissing }
    if let holder = directory.user(withEmail: email), holder != id { throw .emailInUse }
    return .record([.account(.emailSet(email))], revision: user.revision)
  }

  private func disable() throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    guard context.isByService else { throw .serviceOnly }
    if let done = try doneBefore() { return done }
    return .record([.account(.disabled)] + user.openSessions.sorted().map { .sessions(.ended($0, .accountDisabled)) })
  }

  private func enable() throws(Rejection) -> Decision<UserEvent> {
    _ = try authorizedUser()
    guard context.isByService else { throw .serviceOnly }
    if let done = try doneBefore() { return done }
    return .record([.account(.enabled)])
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
    case .preferencesSet(let edit):
      preferences.apply(edit)
    }
  }
}
