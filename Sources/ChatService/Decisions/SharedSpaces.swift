import ChatDomain
import ChatPrimitives

/// The rooms and workspaces of each user, to find out whether two users share one, and what the deletion of an account
/// changes. Deleted ones are not among them.
package struct SharedSpaces: Sendable, Equatable {
  private var rooms = SpacesByMember<Entity.Room>()
  private var workspaces = SpacesByMember<Entity.Workspace>()

  package init() {}

  /// See `Directory.sharesSpace`.
  func areShared(
    by user: UserID, and other: UserID, room: (RoomID) -> Room?, role: (UserID, WorkspaceID) -> WorkspaceRole?
  ) -> Bool {
    let isInWorkspace = workspaces.contains(for: user, other) { workspace, user in
      role(user, workspace).map { $0 >= .member } ?? false
    }
    return isInWorkspace || rooms.contains(for: user, other) { room($0)?.members[$1] != nil }
  }

  func rooms(of user: UserID) -> [RoomID] { rooms[user] }
  func workspaces(of user: UserID) -> [WorkspaceID] { workspaces[user] }

  // MARK: - Restoring

  /// Sets the rooms of all users. The order is that in which the user joined, as it is after the events.
  mutating func restore(_ rooms: some Sequence<(RoomID, Room)>) {
    for (id, room) in rooms {
      for user in room.members.users {
        if let member = room.members[user] { self.rooms.restore(id, of: user, joined: member.joined.position) }
      }
    }
    self.rooms.sortRestored()
  }

  mutating func restore(_ workspaces: some Sequence<(WorkspaceID, Workspace)>) {
    for (id, workspace) in workspaces {
      for (user, member) in workspace.members {
        self.workspaces.restore(id, of: user, joined: member.joined.position)
      }
    }
    self.workspaces.sortRestored()
  }

  // MARK: - Changes

  mutating func add(_ room: RoomID, of user: UserID) { rooms.add(room, of: user) }
  mutating func remove(_ room: RoomID, of user: UserID) { rooms.remove(room, of: user) }
  mutating func add(_ workspace: WorkspaceID, of user: UserID) { workspaces.add(workspace, of: user) }
  mutating func remove(_ workspace: WorkspaceID, of user: UserID) { workspaces.remove(workspace, of: user) }
}

/// The rooms, or the workspaces, of each user, in the order in which the user joined them. It takes 16 bytes for each
/// membership, and less than 100 for each user.
private struct SpacesByMember<Space>: Sendable, Equatable {
  private var byUser: [UserID: [ID<Space>]] = [:]
  /// While restoring: the rooms of each user and when the user joined them.
  private var restored: [UserID: [(joined: LogPosition, space: ID<Space>)]] = [:]

  static func == (left: Self, right: Self) -> Bool { left.byUser == right.byUser }

  subscript(_ user: UserID) -> [ID<Space>] { byUser[user] ?? [] }

  /// Whether one of the newest spaces of the user with fewer spaces has the other user.
  func contains(for user: UserID, _ other: UserID, has: (ID<Space>, UserID) -> Bool) -> Bool {
    let (own, others) = (self[user], self[other])
    return (own.count <= others.count ? own : others).suffix(Limits.spacesCompared)
      .contains { has($0, user) && has($0, other) }
  }

  mutating func add(_ space: ID<Space>, of user: UserID) {
    byUser[user, default: []].append(space)
  }

  mutating func remove(_ space: ID<Space>, of user: UserID) {
    guard let index = byUser[user]?.lastIndex(of: space) else { return }
    byUser[user]?.remove(at: index)
    if byUser[user]?.isEmpty == true { byUser[user] = nil }
  }

  mutating func restore(_ space: ID<Space>, of user: UserID, joined: LogPosition) {
    restored[user, default: []].append((joined, space))
  }

  mutating func sortRestored() {
    byUser = restored.mapValues { $0.sorted { $0.joined < $1.joined }.map(\.space) }
    restored = [:]
  }
}
