import ChatDomain
import ChatPrimitives

/// The direct rooms of each member of each workspace. Direct rooms outside of workspaces are not among them.
package struct DirectRooms: Sendable, Equatable {
  private struct Key: Hashable {
    let workspace: WorkspaceID
    let user: UserID
  }

  private var rooms: [Key: Set<RoomID>] = [:]

  package init() {}

  func rooms(of user: UserID, in workspace: WorkspaceID) -> Set<RoomID> {
    rooms[Key(workspace: workspace, user: user)] ?? []
  }

  mutating func add(_ id: RoomID, _ room: Room, of user: UserID) {
    guard room.kind == .direct, let workspace = room.workspace else { return }
    rooms[Key(workspace: workspace, user: user), default: []].insert(id)
  }

  mutating func remove(_ id: RoomID, _ room: Room, of user: UserID) {
    guard room.kind == .direct, let workspace = room.workspace else { return }
    let key = Key(workspace: workspace, user: user)
    rooms[key]?.remove(id)
    if rooms[key]?.isEmpty == true { rooms[key] = nil }
  }
}
