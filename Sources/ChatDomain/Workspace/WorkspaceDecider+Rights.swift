import ChatPrimitives

/// In which capacity somebody acts in a workspace.
enum WorkspaceActor {
  case member(UserID, WorkspaceRole)
  /// A service that acts for itself.
  case service

  /// The highest role that it may give.
  var highestRole: WorkspaceRole {
    switch self {
    case .member(_, let role): role
    case .service: .owner
    }
  }
}

extension WorkspaceDecider {
  /// Membership and role. A stranger is told that there is no such workspace, and so learns nothing.
  package static func authorize(
    _ command: WorkspaceCommand, by context: CommandContext, in state: WorkspaceState,
    _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard context.isByService || context.actor != nil else { throw .forbidden }
    switch command {
    case .create(let creation):
      guard creation.creator == context.actor else { throw .forbidden }
      try requireRegisteredActor(of: context, directory)
    case .changeRole(let user, _) where user == context.actor:
      // Who lowered oneself has no right to it any more: the retry is answered by its key.
      _ = try workspaceActor(of: context, in: state)
    case .edit, .createInvite, .revokeInvite, .invite, .removeMember, .changeRole:
      try requireRole(.administrator, context, in: state)
    case .delete:
      // Also for who has deleted it already: the retry is answered by its key.
      if case .deleted = state { return }
      try requireRole(.owner, context, in: state)
    case .transfer:
      // A retry by who has given ownership away is answered by its key.
      _ = try workspaceActor(of: context, in: state)
    case .acceptInvite(let id):
      try requireRegisteredActor(of: context, directory)
      guard state.workspace?.invites[id] != nil else { throw .inviteNotFound }
    case .withdrawInvitation(let user):
      guard context.actor == user else { return try requireRole(.administrator, context, in: state) }
      try requireInvitable(context, in: state, directory)
    case .acceptInvitation:
      try requireInvitable(context, in: state, directory)
    case .join:
      guard context.isByService else { throw .serviceOnly }
      try requireRegisteredActor(of: context, directory)
      _ = try workspace(state)
    case .leave:
      // Also for who has left: the retry is answered by its key, and anything else is rejected when decided.
      try requireRegisteredActor(of: context, directory)
    }
  }

  private static func requireRegisteredActor(
    of context: CommandContext, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard directory.isRegistered(try actor(of: context)) else { throw .userNotFound }
  }

  /// Of who is not invited nothing more is asked here: a retry of an answer given before is known by its key, and anything
  /// else is rejected when decided, in the same words for a workspace that there is not.
  private static func requireInvitable(
    _ context: CommandContext, in state: WorkspaceState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    try requireRegisteredActor(of: context, directory)
    guard state.workspace != nil else { throw .invitationNotFound }
  }

  private static func requireRole(
    _ least: WorkspaceRole, _ context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) {
    guard try workspaceActor(of: context, in: state).highestRole >= least else { throw .forbidden }
  }

  static func workspaceActor(of context: CommandContext, in state: WorkspaceState) throws(Rejection) -> WorkspaceActor {
    let workspace = try workspace(state)
    guard let actor = context.actor else { return .service }
    guard let member = workspace.members[actor] else { throw .workspaceNotFound }
    return .member(actor, member.role)
  }

  static func requireAuthority(
    over role: WorkspaceRole, _ context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) {
    switch try workspaceActor(of: context, in: state) {
    case .member(_, let own): guard role < own else { throw .forbidden }
    case .service: return
    }
  }
}
