import ChatDomain
import ChatPrimitives

extension DecisionState {
  /// The events of all rooms and workspaces when an account is deleted. Reads everything in memory, because nothing else
  /// is complete: the user may have invites in rooms that the user has left. A deletion is rare.
  func departures(of user: UserID) -> [ChatEvent] {
    var events: [ChatEvent] = []
    var deleted: Set<WorkspaceID> = []
    for (id, withdrawn) in affected(workspaces.compactMapValues { $0.state.workspace?.withdrawal(of: user) }) {
      events += withdrawn.map { .workspace(id, $0) }
      if withdrawn == [.lifecycle(.deleted)] { deleted.insert(id) }
    }
    for (id, withdrawn) in affected(rooms.compactMapValues { $0.state.room?.withdrawal(of: user) }) {
      // The channels of a deleted workspace are deleted below. Its direct rooms stay.
      if let room = rooms[id]?.state.room, room.kind != .direct, let workspace = room.workspace,
        deleted.contains(workspace)
      {
        continue
      }
      events += withdrawn.map { .room(id, $0) }
    }
    for workspace in deleted.sorted() {
      events += (channels(of: workspace) ?? []).map { .room($0, .lifecycle(.deleted)) }
    }
    return events
  }

  /// In the order of their IDs, so that the same command gives the same events.
  private func affected<Entity, Event>(_ withdrawals: [ID<Entity>: [Event]]) -> [(key: ID<Entity>, value: [Event])] {
    withdrawals.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
  }
}
