import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore

/// The part of the state that comes from `rooms` and `timeline`.
struct RestoredRooms: Sendable {
  var rooms: [RoomID: Versioned<RoomState>] = [:]
  var workspaces: [WorkspaceID: Versioned<WorkspaceState>] = [:]
  var channels: [WorkspaceID: Set<RoomID>] = [:]
  var directRooms = DirectRooms()
  var items = PersonalItems()
  var spaces = SharedSpaces()

  /// Blocks on the disk.
  init(_ source: DecisionStateSource) throws {
    try restoreRooms(source)
    for (id, (state, version)) in try source.workspaces().states {
      workspaces[id] = Versioned(state: state, version: version)
      guard let workspace = state.workspace else { continue }
      items.restore(id, workspace)
    }
    spaces.restore(rooms.lazy.compactMap { id, room in room.state.room.map { (id, $0) } })
    spaces.restore(workspaces.lazy.compactMap { id, workspace in workspace.state.workspace.map { (id, $0) } })
  }

  private mutating func restoreRooms(_ source: DecisionStateSource) throws {
    let versions = try source.roomVersions()
    let pins = try source.pins()
    let states = try source.rooms().states
    rooms.reserveCapacity(states.count)
    for (id, var state) in states {
      if let pinned = pins[id] { state.restorePins(pinned) }
      rooms[id] = Versioned(state: state, version: versions[id.uuid] ?? .none)
      guard let room = state.room else { continue }
      if let workspace = room.workspace, room.kind != .direct { channels[workspace, default: []].insert(id) }
      for user in room.members.users where room.kind == .direct { directRooms.add(id, room, of: user) }
      items.restore(id, room)
    }
  }
}
