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
  /// come last, because the members of a channel must be members of its workspace. Each part is in the order of the IDs,
  /// so that the same command leads to the same events. It only looks at the spaces where the user is a member or has
  /// something else, such as an invite.
  private func departures(of user: UserID) -> [[ChatEvent]] {
    var ofWorkspaces: [[ChatEvent]] = []
    var deleted: Set<WorkspaceID> = []
    for id in items.workspaces(of: user).union(spaces.workspaces(of: user)).sorted() {
      guard let withdrawn = workspaces[id]?.state.workspace?.withdrawal(of: user), !withdrawn.isEmpty else { continue }
      var events = withdrawn.map { ChatEvent.workspace(id, $0) }
      if withdrawn == [.lifecycle(.deleted)] {
        deleted.insert(id)
        events += (channels(of: id) ?? []).map { .room($0, .lifecycle(.deleted)) }
      }
      ofWorkspaces.append(events)
    }
    var ofRooms: [[ChatEvent]] = []
    for id in items.rooms(of: user).union(spaces.rooms(of: user)).sorted() {
      guard let room = rooms[id]?.state.room else { continue }
      // The channels of a deleted workspace are deleted with it. Its direct rooms stay.
      if room.kind != .direct, let workspace = room.workspace, deleted.contains(workspace) { continue }
      let withdrawn = room.withdrawal(of: user)
      if !withdrawn.isEmpty { ofRooms.append(withdrawn.map { .room(id, $0) }) }
    }
    return ofRooms + ofWorkspaces
  }
}
