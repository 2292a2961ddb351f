package import ChatPrimitives

/// One user: account, logins, sessions, devices and uploads. Each of these families has a file, `User+Account` to
/// `User+Uploads`: its events, what its commands record, and how the state changes. The state is in `User`.
package enum UserDecider: Decider {
  package typealias State = UserState
  package typealias Command = UserCommand
  package typealias Event = UserEvent

  package static var initial: UserState { .absent }

  // MARK: Authorize

  /// A user's stream takes commands from that user and from services, and nobody learns from it whether another user
  /// exists. The session in whose name the user acts must be open.
  package static func authorize(
    _ command: UserCommand, by context: CommandContext, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    switch command.action {
    case .register(let registration), .registerIdentified(let registration, _):
      return try authorize(registration, of: command.user, by: context)
    case .changeProfile, .setPreferences, .setEmail, .changePassword, .resetPassword, .linkIdentity, .unlinkIdentity,
      .disable, .enable, .startSession, .refreshSession, .endSession, .endSessions, .setDevice, .invalidatePushToken,
      .removeDevice,
      .uploadMedia:
      break
    }
    guard context.isByService || context.actor == command.user else { throw .forbidden }
    let user = try user(in: state)
    if let session = context.session, !user.openSessions.contains(session), !command.action.mayFollowEnd(of: session) {
      throw .sessionEnded
    }
    switch command.action {
    case .startSession(_, _, let proof):
      try authorizeLogin(of: user, proof, by: context)
    case .setEmail(_, let checked):
      try authorizeByPassword(of: user, checked, by: context)
    case .changePassword(let credential, let checked):
      // What repeats the current password is checked against that; its retry is looked for after this.
      try authorizeByPassword(of: user, user.credential == credential ? credential.version : checked, by: context)
    case .linkIdentity(_, let proof):
      try authorizeLinking(to: user, proof, by: context)
    case .invalidatePushToken, .disable, .enable:
      guard context.isByService else { throw .serviceOnly }
    case .register, .registerIdentified, .changeProfile, .setPreferences, .resetPassword, .unlinkIdentity,
      .refreshSession, .endSession,
      .endSessions, .setDevice, .removeDevice, .uploadMedia:
      break
    }
  }

  // MARK: Decide

  package static func decide(
    _ command: UserCommand, by context: CommandContext, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    let decision = try decision(on: command, by: context, in: state, directory)
    guard case .record(let events) = decision, case .registered(let user) = state else { return decision }
    return .record(events + silencing(after: events, of: user, by: context))
  }

  private static func decision(
    on command: UserCommand, by context: CommandContext, in state: UserState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    switch command.action {
    case .register(let registration):
      try register(registration, by: context, in: state, directory)
    case .registerIdentified(let registration, let identity):
      try register(registration, as: identity, in: state, directory)
    case .changeProfile(let edit):
      try changeProfile(edit)
    case .setPreferences(let preferences):
      // Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
      .record([.account(.preferencesSet(preferences))])
    case .setEmail(let email, _):
      try setEmail(email, of: user(in: state), id: command.user, directory)
    case .changePassword(let credential, let checked):
      try changePassword(to: credential, checked: checked, of: user(in: state), by: context)
    case .resetPassword(let credential, let version):
      try resetPassword(to: credential, issuedFor: version, of: user(in: state))
    case .linkIdentity(let identity, _):
      try link(identity, to: user(in: state), id: command.user, by: context, directory)
    case .unlinkIdentity(let identity):
      try unlink(identity, from: user(in: state), by: context)
    case .disable:
      disable(try user(in: state))
    case .enable:
      .record([.account(.enabled)])
    case .startSession(let id, let device, _):
      try startSession(id, device, of: user(in: state))
    case .refreshSession(let id, let presented, let oldest):
      try refreshSession(id, presented, oldest: oldest, of: user(in: state))
    case .endSession(let id, let reason):
      try endSession(id, reason, of: user(in: state))
    case .endSessions(let selection):
      endSessions(selection, of: try user(in: state), by: context)
    case .setDevice(let id, let description):
      try setDevice(id, description, of: user(in: state))
    case .invalidatePushToken(let id, let token):
      try invalidate(token, of: id, of: user(in: state))
    case .removeDevice(let id):
      try removeDevice(id, of: user(in: state))
    case .uploadMedia(let id, let media, let name):
      try uploadMedia(id, media, name)
    }
  }

  private static func user(in state: UserState) throws(Rejection) -> User {
    guard case .registered(let user) = state else { throw .userNotFound }
    return user
  }

  // MARK: Revisions

  package static func revision(for command: UserCommand, in state: UserState) -> LogPosition? {
    guard case .registered(let user) = state else { return nil }
    return switch command.action {
    case .changeProfile, .setEmail: user.revision
    case .setDevice(let id, _), .removeDevice(let id): user.devices[id]?.revision
    case .register, .registerIdentified, .setPreferences, .changePassword, .resetPassword, .linkIdentity,
      .unlinkIdentity, .disable, .enable, .startSession, .refreshSession, .endSession, .endSessions,
      .invalidatePushToken, .uploadMedia:
      nil
    }
  }

  // MARK: Evolve

  package static func evolve(_ state: inout UserState, _ event: UserEvent, _ stamp: Stamp, by actor: UserID?) {
    switch state {
    case .absent:
      switch event {
      case .account(.registered(let registration)):
        state = .registered(User(registration, stamp))
      case .erased:
        // A stream's first event is always the registration.
        state = .registered(User(erasedAt: stamp))
      case .account, .logins, .sessions, .devices, .media:
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
    case .endSession(let id, _), .refreshSession(let id, _, _): id == session
    case .register, .registerIdentified, .changeProfile, .setPreferences, .setEmail, .changePassword, .resetPassword,
      .linkIdentity, .unlinkIdentity, .disable, .enable, .startSession, .endSessions, .setDevice, .invalidatePushToken,
      .removeDevice, .uploadMedia:
      false
    }
  }
}
