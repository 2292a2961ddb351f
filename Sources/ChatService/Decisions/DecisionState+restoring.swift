package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

extension DecisionState {
  /// The state at `floor`, read from read models that have applied everything up to it. Blocks on the disk.
  /// - Parameter now: what was used on a later day, while the clock was ahead, does not count.
  package init(
    restoring source: DecisionStateSource, knownIDs: KnownIDs, floor: LogPosition, quotas: Quotas = Quotas(),
    rules: AccountRules = AccountRules(), at now: Timestamp = .latest
  ) throws {
    self.init(knownIDs: knownIDs, floor: floor, quotas: quotas)
    self.rules = rules
    usage = try source.usage(at: now)
    let userVersions = try source.userVersions()
    for (id, state) in try source.users().states {
      users[id] = Versioned(state: state, version: userVersions[id.uuid] ?? .none)
      if case .registered(let user) = state { names.enter(id, user) }
    }
    serverVersion = userVersions[.zero] ?? .none
    signingKeys = try source.signingKeys()
    holds = try source.legalHolds()
    let roomVersions = try source.roomVersions()
    let pins = try source.pins()
    for (id, var state) in try source.rooms().states {
      if let pinned = pins[id] { state.restorePins(pinned) }
      rooms[id] = Versioned(state: state, version: roomVersions[id.uuid] ?? .none)
      guard let room = state.room else { continue }
      for invite in room.invites.values { names.enter(invite.invite, of: id) }
      if let workspace = room.workspace, room.kind != .direct { channels[workspace, default: []].insert(id) }
      for user in room.members.users where room.kind == .direct { directRooms.add(id, room, of: user) }
      items.restore(id, room)
    }
    for (id, (state, version)) in try source.workspaces().states {
      workspaces[id] = Versioned(state: state, version: version)
      guard let workspace = state.workspace else { continue }
      for invite in workspace.invites.values { names.enter(invite.invite, of: id) }
      items.restore(id, workspace)
    }
    spaces.restore(rooms.lazy.compactMap { id, room in room.state.room.map { (id, $0) } })
    spaces.restore(workspaces.lazy.compactMap { id, workspace in workspace.state.workspace.map { (id, $0) } })
  }
}
