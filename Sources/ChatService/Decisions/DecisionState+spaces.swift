import ChatDomain
import ChatPrimitives

/// Which rooms and workspaces each user is in.
extension DecisionState {
  /// Must be called before the event is applied to the room.
  mutating func noteMembers(_ id: RoomID, _ event: RoomEvent) {
    switch event {
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      guard let room = rooms[id]?.state.room, room.members[user] == nil else { return }
      spaces.add(id, of: user)
      directRooms.add(id, room, of: user)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      spaces.remove(id, of: user)
      if let room = rooms[id]?.state.room { directRooms.remove(id, room, of: user) }
    case .lifecycle(.deleted):
      guard let room = rooms[id]?.state.room else { return }
      for user in room.members.users {
        spaces.remove(id, of: user)
        directRooms.remove(id, room, of: user)
      }
    case .members(.admissionRepeated), .members(.roleChanged), .members(.unbanned), .members(.silenced),
      .members(.muted), .members(.notificationsSet), .members(.hidden), .members(.shown), .lifecycle(.created),
      .lifecycle(.edited), .lifecycle(.archived),
      .lifecycle(.restored), .sharing, .messages, .annotations, .reading, .threads, .scheduling, .reports, .erased:
      break
    }
  }

  /// Must be called before the event is applied to the workspace.
  mutating func noteMembers(_ id: WorkspaceID, _ event: WorkspaceEvent) {
    switch event {
    case .members(.joined(let user, _, _)):
      if let workspace = workspaces[id]?.state.workspace, workspace.members[user] == nil { spaces.add(id, of: user) }
    case .members(.left(let user)), .members(.removed(let user)):
      spaces.remove(id, of: user)
    case .lifecycle(.deleted):
      guard let members = workspaces[id]?.state.workspace?.members else { return }
      for user in members.keys { spaces.remove(id, of: user) }
    case .members(.admissionRepeated), .members(.roleChanged), .lifecycle(.created), .lifecycle(.edited), .sharing,
      .invitations, .erased:
      break
    }
  }
}
