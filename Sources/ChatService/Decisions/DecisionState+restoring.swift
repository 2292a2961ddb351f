package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore
import NIOPosix

extension DecisionState {
  /// The state at `floor`, read from read models that have applied everything up to it. Users and rooms are read at the
  /// same time, on threads that may block, because they are in different files.
  /// - Parameter now: what was used on a later day, while the clock was ahead, does not count.
  /// - Throws: `ProjectionBehind` if a read model cannot be read, and the errors of the disk.
  package init(
    restoring source: DecisionStateSource, knownIDs: KnownIDs, floor: LogPosition, quotas: Quotas = Quotas(),
    rules: AccountRules = AccountRules(), at now: Timestamp = .latest
  ) async throws {
    self.init(knownIDs: knownIDs, floor: floor, quotas: quotas)
    self.rules = rules
    async let readUsers = NIOThreadPool.singleton.runIfActive { try RestoredUsers(source, usedAt: now) }
    async let readRooms = NIOThreadPool.singleton.runIfActive { try RestoredRooms(source) }
    take(try await readUsers)
    take(try await readRooms)
  }

  private mutating func take(_ restored: RestoredUsers) {
    users = restored.users
    names = restored.names
    serverVersion = restored.serverVersion
    signingKeys = restored.signingKeys
    holds = restored.holds
    usage = restored.usage
  }

  private mutating func take(_ restored: RestoredRooms) {
    rooms = restored.rooms
    workspaces = restored.workspaces
    channels = restored.channels
    directRooms = restored.directRooms
    items = restored.items
    spaces = restored.spaces
    for (id, room) in rooms {
      for invite in (room.state.room?.invites ?? [:]).values { names.enter(invite.invite, of: id) }
    }
    for (id, workspace) in workspaces {
      for invite in (workspace.state.workspace?.invites ?? [:]).values { names.enter(invite.invite, of: id) }
    }
  }
}
