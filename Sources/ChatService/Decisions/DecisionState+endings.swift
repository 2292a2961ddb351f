import ChatDomain
import ChatPrimitives
import ChatProjections

extension ChatCommand {
  /// How what the command is about has ended; nil if it has not.
  var ending: Ending? { lookup.ending.flatMap { known.endings[$0] } }
}

extension DecisionState {
  /// The user as the decider gets it: with the session of the command, even if that has ended.
  func user(_ user: UserID, _ request: ChatCommand) -> UserState {
    let state = users[user]?.state ?? .absent
    guard case .session(_, let session)? = request.lookup.ending else { return state }
    return state.adding(request.ending, of: session)
  }

  /// Removes what has ended from memory. `recent` has it until the read models have applied the event.
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
