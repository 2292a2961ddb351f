package import ChatPrimitives

/// One workspace. Each family of events has a file, `Workspace+Lifecycle` to `Workspace+Invitations`: its events, what its
/// commands record, and how the state changes. The state is in `Workspace`, who may do what in `WorkspaceDecider+Rights`,
/// and what the events do to the workspace's channels, which are rooms, in `WorkspaceDecider+Channels`.
package enum WorkspaceDecider: Decider {
  package typealias State = WorkspaceState
  package typealias Command = WorkspaceCommand
  package typealias Event = WorkspaceEvent

  package static var initial: WorkspaceState { .absent }

  package static func decide(
    _ command: WorkspaceCommand, by context: CommandContext, in state: WorkspaceState,
    _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    switch command {
    case .create(let creation): return try create(creation, in: state)
    case .edit(let edit): return try self.edit(edit, in: state)
    case .delete:
      _ = try workspace(state)
      return .record([.lifecycle(.deleted)])
    case .createInvite(let invite): return try createInvite(invite, by: context, in: state)
    case .revokeInvite(let id): return try revokeInvite(id, in: state)
    case .acceptInvite(let id): return try acceptInvite(id, by: context, in: state)
    case .invite(let user, let role): return try invite(user, role, by: context, in: state, directory)
    case .withdrawInvitation(let user): return try withdrawInvitation(of: user, in: state)
    case .acceptInvitation: return try acceptInvitation(by: context, in: state)
    case .join: return try join(by: context, in: state)
    case .leave: return try leave(by: context, in: state)
    case .removeMember(let user): return try removeMember(user, by: context, in: state)
    case .changeRole(let user, let role): return try changeRole(of: user, to: role, by: context, in: state)
    case .transfer(let user): return try transfer(to: user, by: context, in: state)
    }
  }

  package static func revision(for command: WorkspaceCommand, in state: WorkspaceState) -> LogPosition? {
    switch command {
    case .edit, .delete: state.workspace?.revision
    case .create, .createInvite, .revokeInvite, .acceptInvite, .invite, .withdrawInvitation, .acceptInvitation, .join,
      .leave, .removeMember, .changeRole, .transfer:
      nil
    }
  }

  package static func evolve(
    _ state: inout WorkspaceState, _ event: WorkspaceEvent, _ stamp: Stamp, by actor: UserID?
  ) {
    state.take(event, stamp, by: actor)
  }

  // MARK: What decisions ask of a state

  static func workspace(_ state: WorkspaceState) throws(Rejection) -> Workspace {
    guard let workspace = state.workspace else { throw .workspaceNotFound }
    return workspace
  }

  /// Every command that needs an actor got one, else `authorize` has refused it.
  static func actor(of context: CommandContext) throws(Rejection) -> UserID {
    guard let actor = context.actor else { throw .forbidden }
    return actor
  }
}
