import ChatDomain
import ChatPrimitives
import ChatProjections

extension EndingKey {
  /// Nil unless the command depends on whether something has ended: anything else fails in the same way for what has
  /// ended and for what never was.
  init?(_ operation: ChatCommand.Operation) {
    switch operation {
    case .user(let command):
      guard let session = command.action.endingSession else { return nil }
      self = .session(command.user, session)
    case .room(let room, .create), .room(let room, .delete):
      self = .room(room)
    case .workspace(let workspace, .create), .workspace(let workspace, .delete):
      self = .workspace(workspace)
    case .room, .roomInvite, .workspace, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey:
      return nil
    }
  }
}

extension UserAction {
  /// The session that may have ended.
  fileprivate var endingSession: SessionID? {
    switch self {
    case .startSession(let session, _, _), .refreshSession(let session, _, _), .endSession(let session, _): session
    case .register, .registerIdentified, .changeProfile, .setPreferences, .setEmail, .changePassword, .resetPassword,
      .linkIdentity, .unlinkIdentity, .disable, .enable, .endSessions, .setDevice, .invalidatePushToken, .removeDevice,
      .uploadMedia:
      nil
    }
  }
}

extension DecisionState {
  /// How what the command is about has ended, by what the writer itself knows or by what was looked up.
  func ending(of request: ChatCommand) -> Ending? {
    guard let key = EndingKey(request.operation) else { return nil }
    return recent.ending(key) ?? request.ending
  }

  /// The user as the command finds it: with the session that the command is about, though that has ended.
  func user(_ command: UserCommand, _ request: ChatCommand) -> UserState {
    let state = users[command.user]?.state ?? .absent
    guard case .session(_, let session)? = EndingKey(request.operation) else {
      return state
    }
    return state.adding(ending(of: request), of: session)
  }

  /// What has ended leaves memory. Until the read models know of it, it is remembered among what is recent.
  mutating func takeEnding(_ recorded: RecordedEvent) {
    switch recorded.event {
    case .user(let id, .sessions(.ended(let session, _))):
      guard let ending = users[id]?.state.removeEnded(session) else { return }
      recent.enter(ending, for: .session(id, session), at: recorded.position)
    case .room(let id, .lifecycle(.deleted)):
      guard let ending = rooms[id]?.state.ending else { return }
      rooms[id] = nil
      recent.enter(ending, for: .room(id), at: recorded.position)
    case .workspace(let id, .lifecycle(.deleted)):
      guard let ending = workspaces[id]?.state.ending else { return }
      workspaces[id] = nil
      channels[id] = nil
      recent.enter(ending, for: .workspace(id), at: recorded.position)
    case .user, .room, .workspace, .server:
      break
    }
  }
}
