import ChatPrimitives

/// Accounts, sessions and devices of one user. The facts stand in `UserEvent`, the state in `User`; what a command
/// comes to, in `UserDecider+Accounts`, `+Sessions` and `+Devices`.
package enum UserDecider: Decider {
  package typealias State = UserState
  package typealias Command = UserCommand
  package typealias Event = UserEvent

  package static var initial: UserState { .absent }

  // MARK: Authorize

  /// A user's stream takes commands from that user and from services, and nobody learns from it whether another user
  /// exists. The session in whose name the user acts must be open.
  package static func authorize(
    _ command: UserCommand, by act: Act, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    if case .register(let registration) = command.action {
      return try authorize(registration, of: command.user, by: act)
    }
    guard act.isByService || act.actor == command.user else { throw .forbidden }
    let user = try user(in: state)
    if let session = act.session, !user.openSessions.contains(session), !command.action.mayFollowEnd(of: session) {
      throw .sessionEnded
    }
    switch command.action {
    case .startSession(_, _, let version):
      try authorizeLogin(of: user, version, by: act)
    case .invalidatePushToken:
      guard act.isByService else { throw .serviceOnly }
    case .register, .changeProfile, .refreshSession, .endSession, .setDevice, .removeDevice:
      break
    }
  }

  // MARK: Decide

  package static func decide(
    _ command: UserCommand, by act: Act, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<UserEvent> {
    switch command.action {
    case .register(let registration):
      try register(registration, by: act, in: state, directory)
    case .changeProfile(let nickname):
      try changeProfile(nickname: nickname)
    case .startSession(let id, let device, _):
      try startSession(id, device, of: user(in: state))
    case .refreshSession(let id, let presented):
      try refreshSession(id, presented, of: user(in: state))
    case .endSession(let id, let reason):
      try endSession(id, reason, of: user(in: state))
    case .setDevice(let id, let description):
      try setDevice(id, description, of: user(in: state))
    case .invalidatePushToken(let id, let token):
      try invalidate(token, of: id, of: user(in: state))
    case .removeDevice(let id):
      try removeDevice(id, of: user(in: state))
    }
  }

  private static func user(in state: UserState) throws(Rejection) -> User {
    guard case .registered(let user) = state else { throw .userNotFound }
    return user
  }

  // MARK: Evolve

  package static func evolve(_ state: inout UserState, _ event: UserEvent, _ stamp: Stamp) {
    switch state {
    case .absent:
      switch event {
      case .registered(let registration):
        state = .registered(User(registration, stamp))
      case .erased:
        // A stream's first fact is always the registration.
        state = .registered(User(erasedAt: stamp))
      case .profileChanged, .credentialSet, .identityLinked, .emailSet, .disabled, .enabled, .preferencesSet,
        .sessionStarted, .sessionRefreshed, .sessionEnded, .deviceRegistered, .deviceUpdated, .pushTokenInvalidated,
        .deviceRemoved, .pushTokenMoved, .mediaUploaded:
        break
      }
    case .registered(var user):
      // The state lets go of the payload first, so that it is changed in place and not copied.
      state = .absent
      user.apply(event, stamp)
      state = .registered(user)
    }
  }
}

extension UserAction {
  /// Whether the ended session itself may still ask this: its logout again, or a refresh that then says why it ended.
  fileprivate func mayFollowEnd(of session: SessionID) -> Bool {
    switch self {
    case .endSession(let id, _), .refreshSession(let id, _): id == session
    case .register, .changeProfile, .startSession, .setDevice, .invalidatePushToken, .removeDevice: false
    }
  }
}
