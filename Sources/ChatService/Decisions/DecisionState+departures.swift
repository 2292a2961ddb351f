package import ChatDomain
import ChatPrimitives

extension DecisionState {
  /// The events of one command that deletes an account: first those that end the user's part in rooms and workspaces,
  /// then `own`, the events of the user's stream. A command has at most `Limits.deletionEvents`, because it must fit
  /// into one block of the log. If there are more, this returns only the first of the events in rooms and workspaces,
  /// and the next command has the next ones.
  func deletionEvents(of user: UserID, own: [ChatEvent]) -> [ChatEvent] {
    Self.firstPart(of: departures(of: user), own: own, limit: Limits.deletionEvents)
  }

  /// - Parameter groups: events that must be in one command. No group has more than `limit`.
  package static func firstPart(of groups: [[ChatEvent]], own: [ChatEvent], limit: Int) -> [ChatEvent] {
    var events: [ChatEvent] = []
    for group in groups {
      if events.count + group.count > limit { return events }
      events += group
    }
    return events.count + own.count > limit ? events : events + own
  }

  /// The events in rooms and workspaces when an account is deleted, with a group for each room or workspace. Workspaces
  /// come last, because the members of a channel must be members of its workspace. It looks through all rooms and
  /// workspaces in memory, because the user may have invites in some that the user has left. That is slow, but
  /// deletions are rare.
  private func departures(of user: UserID) -> [[ChatEvent]] {
    var ofWorkspaces: [[ChatEvent]] = []
    var deleted: Set<WorkspaceID> = []
    for (id, withdrawn) in affected(workspaces, { $0.state.workspace?.withdrawal(of: user) }) {
      var events = withdrawn.map { ChatEvent.workspace(id, $0) }
      if withdrawn == [.lifecycle(.deleted)] {
        deleted.insert(id)
        events += (channels(of: id) ?? []).map { .room($0, .lifecycle(.deleted)) }
      }
      ofWorkspaces.append(events)
    }
    var ofRooms: [[ChatEvent]] = []
    for (id, withdrawn) in affected(rooms, { $0.state.room?.withdrawal(of: user) }) {
      // The channels of a deleted workspace are deleted with it. Its direct rooms stay.
      if let room = rooms[id]?.state.room, room.kind != .direct, let workspace = room.workspace,
        deleted.contains(workspace)
      {
        continue
      }
      ofRooms.append(withdrawn.map { .room(id, $0) })
    }
    return ofRooms + ofWorkspaces
  }

  /// In the order of their IDs, so that the same command gives the same events. Visits each state in place: copying the
  /// dictionary would take the writer's thread longer than reading it.
  private func affected<Entity, State, Event>(
    _ states: [ID<Entity>: State], _ withdrawal: (State) -> [Event]?
  ) -> [(key: ID<Entity>, value: [Event])] {
    var affected: [(key: ID<Entity>, value: [Event])] = []
    for (id, state) in states {
      if let events = withdrawal(state), !events.isEmpty { affected.append((id, events)) }
    }
    return affected.sorted { $0.key < $1.key }
  }
}
