package import ChatPrimitives

/// A wish about one user.
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
  case changeProfile(nickname: String)
  /// - credentialVersion: of the credential that the password was checked against; nil when a service vouches.
  case startSession(SessionID, device: DeviceID?, credentialVersion: UInt32?)
  /// - presented: the generation of the refresh token that was shown.
  case refreshSession(SessionID, presented: UInt32)
  case endSession(SessionID, SessionEnd)
  case setDevice(DeviceID, DeviceDescription)
  case invalidatePushToken(DeviceID, PushToken)
  case removeDevice(DeviceID)

  /// Whether a retry is recognised by what the command itself names: the ID of what it creates, or the generation of
  /// a refresh token. Such a command is not to be looked up by an idempotency key.
  package var isKnownByItself: Bool {
    switch self {
    case .register, .startSession, .refreshSession: true
    case .changeProfile, .endSession, .setDevice, .invalidatePushToken, .removeDevice: false
    }
  }
}
