package import ChatPrimitives

/// One workspace. Each family has a file, `Workspace+Lifecycle` to `Workspace+Invitations`: its events, its commands,
/// what each command records, and how the state changes. The state is in `Workspace`. `WorkspaceDecider+Channels` has
/// the effects on the workspace's channels, which are rooms.
package struct WorkspaceDecider: Decider {
  package typealias Entity = ChatPrimitives.Entity.Workspace
  package typealias State = WorkspaceState
  package typealias Command = WorkspaceCommand
  package typealias Event = WorkspaceEvent

  package let basis: DecisionBasis<Entity, State>

  package init(_ basis: DecisionBasis<Entity, State>) {
    self.basis = basis
  }

  package static var initial: WorkspaceState { .absent }

  package func decide(
    _ command: WorkspaceCommand, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    guard context.isByService || context.actor != nil else { throw .forbidden }
    return switch command {
    case .lifecycle(let command): try decide(command, directory)
    case .sharing(let command): try decide(command, directory)
    case .members(let command): try decide(command, directory)
    case .invitations(let command): try decide(command, directory)
    }
  }

  package static func evolve(
    _ state: inout WorkspaceState, _ event: WorkspaceEvent, _ stamp: Stamp, by actor: UserID?
  ) {
    state.take(event, stamp, by: actor)
  }
}

// MARK: - Rights

/// Who acts in a workspace.
enum WorkspaceActor {
  case member(UserID, WorkspaceRole)
  /// A service that acts for itself.
  case service

  /// The highest role that the actor may give.
  var highestRole: WorkspaceRole {
    switch self {
    case .member(_, let role): role
    case .service: .owner
    }
  }
}

extension WorkspaceDecider {
  func workspace() throws(Rejection) -> Workspace {
    guard let workspace = state.workspace else { throw .workspaceNotFound }
    return workspace
  }

  /// Users who are not members get the same response as for a workspace that does not exist.
  func workspaceActor() throws(Rejection) -> WorkspaceActor {
    let workspace = try workspace()
    guard let actor = context.actor else { return .service }
    guard let member = workspace.members[actor] else { throw .workspaceNotFound }
    return .member(actor, member.role)
  }

  func requireRole(_ least: WorkspaceRole) throws(Rejection) {
    guard try workspaceActor().highestRole >= least else { throw .forbidden }
  }

  /// Members have authority over members of a lower role, and services over everyone.
  func requireAuthority(over role: WorkspaceRole) throws(Rejection) {
    switch try workspaceActor() {
    case .member(_, let own): guard role < own else { throw .forbidden }
    case .service: return
    }
  }
}
