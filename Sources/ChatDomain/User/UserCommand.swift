package import ChatPrimitives

/// What a client asks of one user.
package struct UserCommand: RetriableCommand, Equatable {
  /// Whose stream it goes to.
  package var user: UserID
  package var action: UserAction

  package init(_ user: UserID, _ action: UserAction) {
    self.user = user
    self.action = action
  }

  package var isKnownByItself: Bool { action.isKnownByItself }
}

package enum UserAction: Sendable, Equatable {
  case register(Registration)
  /// Registers who was seen for the first time by an ID token, and links that login to the account.
  case registerIdentified(Registration, Identity)
  case changeProfile(ProfileEdit)
  case setPreferences(UserPreferences)
  /// - checked: the version of the credential that the current password was checked against; nil when a service vouches.
  case setEmail(String, checked: UInt32?)
  /// Sets a new password and ends the other sessions.
  /// - checked: the version of the credential that the current password was checked against.
  case changePassword(Credential, checked: UInt32)
  /// Sets a new password by a token that a service asked for, and ends every session.
  /// - issuedFor: the version of the credential that the token was made for; zero when there was none.
  case resetPassword(Credential, issuedFor: UInt32)
  /// - proof: that it is the account's holder who asks, beside the ID token that names the login.
  case linkIdentity(Identity, proof: LoginProof)
  case unlinkIdentity(Identity)
  case disable
  case enable
  case startSession(SessionID, device: DeviceID?, proof: LoginProof)
  /// - presented: the generation of the refresh token that was shown.
  /// - oldest: refresh tokens that were issued before this are too old; nil when they do not age.
  case refreshSession(SessionID, presented: UInt32, oldest: Timestamp?)
  case endSession(SessionID, SessionEnd)
  case endSessions(SessionSelection)
  case setDevice(DeviceID, DeviceDescription)
  case invalidatePushToken(DeviceID, PushToken)
  case removeDevice(DeviceID)
  /// The content is on the disk. Its ID is the command's key as well, by which a repeat is known for ever.
  case uploadMedia(MediaID, Media, name: String?)

  /// Whether a retry is recognised by what the command itself names: the ID of what it creates, the token that it uses up, or the generation of a refresh token. Such a command is not to be looked up by an
  /// idempotency key.
  package var isKnownByItself: Bool {
    switch self {
    case .register, .registerIdentified, .resetPassword, .startSession, .refreshSession: true
    case .changeProfile, .setPreferences, .setEmail, .changePassword, .linkIdentity, .unlinkIdentity, .disable, .enable,
      .endSession, .endSessions,
      .setDevice,
      .invalidatePushToken, .removeDevice, .uploadMedia:
      false
    }
  }
}

/// What was found out before the decision about who asks; it must still hold when it is decided.
package enum LoginProof: Sendable, Hashable {
  /// The password was checked against this version of the credential.
  case password(version: UInt32)
  /// An ID token was checked, and tells of this login elsewhere.
  case identity(Identity)
  /// A service vouches.
  case service
}

/// Which sessions end at once.
package enum SessionSelection: Sendable, Hashable {
  /// All but the one that the request is made with.
  case others
  case all

  var reason: SessionEnd {
    switch self {
    case .others: .othersLoggedOut
    case .all: .allLoggedOut
    }
  }
}
