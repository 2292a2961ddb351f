package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

extension DecisionState {
  /// The state as of `floor`, to which `accounts` and `rooms` have been brought. Blocks on the disk.
  package init(
    restoring source: DecisionStateSource, seen: SeenIDs, floor: LogPosition, quotas: Quotas = Quotas()
  ) throws {
    self.init(seen: seen, floor: floor, quotas: quotas)
    usage = try source.usage()
    let userVersions = try source.userVersions()
    for (id, state) in try source.users().states {
      users[id] = Versioned(state: state, version: userVersions[id.uuid] ?? .none)
      if case .registered(let user) = state {
        names.enter(id, email: user.email, externalID: user.externalID)
      }
    }
    serverVersion = userVersions[.zero] ?? .none
    let roomVersions = try source.roomVersions()
    for (id, state) in try source.rooms().states {
      rooms[id] = Versioned(state: state, version: roomVersions[id.uuid] ?? .none)
      for invite in (state.room?.invites ?? [:]).values { names.enter(invite.invite, of: id) }
    }
  }
}
