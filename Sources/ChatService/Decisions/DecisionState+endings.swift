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
    guard let key = recorded.event.endedKey, let ending = removeEnded(key) else { return }
    recent.enter(ending, for: key, at: recorded.position)
  }

  /// - Returns: how it ended; nil if it does not exist or has not ended.
  private mutating func removeEnded(_ key: EndingKey) -> Ending? {
    switch key {
    case .session(let user, let session):
      return users[user]?.state.removeEnded(session)
    case .room(let room):
      guard let ending = rooms[room]?.state.ending else { return nil }
      rooms[room] = nil
      return ending
    case .workspace(let workspace):
      guard let ending = workspaces[workspace]?.state.ending else { return nil }
      workspaces[workspace] = nil
      channels[workspace] = nil
      return ending
    }
  }
}
