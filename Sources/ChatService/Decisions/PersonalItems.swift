import ChatDomain
import ChatPrimitives

/// Where users have something that ends with their account, besides their memberships: invites that they made,
/// scheduled messages in rooms that they have left, and invitations. With `SharedSpaces`, these are all rooms and
/// workspaces that the deletion of an account changes. Deleted ones are not among them.
package struct PersonalItems: Sendable, Equatable {
  /// Revoked invites count too, because a room and a workspace keep every invite.
  private var invitesToRooms = SpacesByUser<Entity.Room>()
  private var scheduled = SpacesByUser<Entity.Room>()
  private var invitesToWorkspaces = SpacesByUser<Entity.Workspace>()
  private var invitations = SpacesByUser<Entity.Workspace>()

  package init() {}

  func rooms(of user: UserID) -> Set<RoomID> { invitesToRooms[user].union(scheduled[user]) }

  func workspaces(of user: UserID) -> Set<WorkspaceID> { invitesToWorkspaces[user].union(invitations[user]) }

  // MARK: - Changes

  mutating func addInvite(to room: RoomID, by user: UserID) { invitesToRooms.add(room, of: user) }
  mutating func addInvite(to workspace: WorkspaceID, by user: UserID) { invitesToWorkspaces.add(workspace, of: user) }

  /// The user has left the room, but not the scheduled messages there.
  mutating func addScheduled(in room: RoomID, by user: UserID) { scheduled.add(room, of: user) }
  mutating func removeScheduled(in room: RoomID, by user: UserID) { scheduled.remove(room, of: user) }

  mutating func addInvitation(to workspace: WorkspaceID, of user: UserID) { invitations.add(workspace, of: user) }
  mutating func removeInvitation(to workspace: WorkspaceID, of user: UserID) { invitations.remove(workspace, of: user) }

  // MARK: - Whole rooms and workspaces

  mutating func restore(_ id: RoomID, _ room: Room) {
    for maker in room.invites.values.compactMap(\.maker) { addInvite(to: id, by: maker) }
    for author in room.scheduled.counts.keys where room.members[author] == nil { addScheduled(in: id, by: author) }
  }

  mutating func restore(_ id: WorkspaceID, _ workspace: Workspace) {
    for maker in workspace.invites.values.compactMap(\.maker) { addInvite(to: id, by: maker) }
    for user in workspace.invited.keys { addInvitation(to: id, of: user) }
  }

  mutating func remove(_ id: RoomID, _ room: Room) {
    for maker in room.invites.values.compactMap(\.maker) { invitesToRooms.remove(id, of: maker) }
    for author in room.scheduled.counts.keys { removeScheduled(in: id, by: author) }
  }

  mutating func remove(_ id: WorkspaceID, _ workspace: Workspace) {
    for maker in workspace.invites.values.compactMap(\.maker) { invitesToWorkspaces.remove(id, of: maker) }
    for user in workspace.invited.keys { removeInvitation(to: id, of: user) }
  }
}

private struct SpacesByUser<Space>: Sendable, Equatable {
  private var byUser: [UserID: Set<ID<Space>>] = [:]

  subscript(_ user: UserID) -> Set<ID<Space>> { byUser[user] ?? [] }

  mutating func add(_ space: ID<Space>, of user: UserID) { byUser[user, default: []].insert(space) }

  mutating func remove(_ space: ID<Space>, of user: UserID) {
    byUser[user]?.remove(space)
    if byUser[user]?.isEmpty == true { byUser[user] = nil }
  }
}

extension DecisionState {
  /// Must be called before the event is applied to the room.
  mutating func noteItems(_ id: RoomID, _ event: RoomEvent, by actor: UserID?) {
    switch event {
    case .sharing(.inviteCreated):
      if let actor, rooms[id]?.state.room != nil { items.addInvite(to: id, by: actor) }
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      items.removeScheduled(in: id, by: user)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      if rooms[id]?.state.room?.scheduled.counts[user] != nil { items.addScheduled(in: id, by: user) }
    case .scheduling(.cancelled(let message)), .scheduling(.failed(let message, _)):
      guard let scheduled = rooms[id]?.state.room?.scheduled, let author = scheduled[message]?.author,
        scheduled.counts[author] == 1
      else { return }
      items.removeScheduled(in: id, by: author)
    case .lifecycle(.deleted):
      if let room = rooms[id]?.state.room { items.remove(id, room) }
    case .members(.admissionRepeated), .members(.roleChanged), .members(.unbanned), .members(.silenced),
      .members(.muted), .members(.notificationsSet), .members(.hidden), .members(.shown), .lifecycle(.created),
      .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .sharing(.inviteRevoked),
      .scheduling(.scheduled), .scheduling(.changed), .messages, .annotations, .reading, .threads, .reports, .erased:
      break
    }
  }

  /// Must be called before the event is applied to the workspace.
  mutating func noteItems(_ id: WorkspaceID, _ event: WorkspaceEvent, by actor: UserID?) {
    switch event {
    case .sharing(.inviteCreated):
      if let actor, workspaces[id]?.state.workspace != nil { items.addInvite(to: id, by: actor) }
    case .invitations(.invited(let user, _)):
      guard let workspace = workspaces[id]?.state.workspace, workspace.members[user] == nil else { return }
      items.addInvitation(to: id, of: user)
    case .invitations(.withdrawn(let user)), .members(.joined(let user, _, _)):
      items.removeInvitation(to: id, of: user)
    case .lifecycle(.deleted):
      if let workspace = workspaces[id]?.state.workspace { items.remove(id, workspace) }
    case .members(.left), .members(.removed), .members(.admissionRepeated), .members(.roleChanged),
      .lifecycle(.created), .lifecycle(.edited), .sharing(.inviteRevoked), .erased:
      break
    }
  }
}
