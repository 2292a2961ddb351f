package import ChatPrimitives

extension WorkspaceEvent {
  /// Invitations of one user by name.
  package enum Invitations: Sendable, Equatable {
    /// The user may join. For a member it changes nothing, and is recorded for the idempotency key.
    case invited(UserID, role: WorkspaceRole)
    /// The invited user declined, or the invitation was withdrawn.
    case withdrawn(UserID)
  }
}

extension WorkspaceEvent.Invitations: EventFamily {
  /// Who declined is not a part of it: idempotency keys are looked up within one actor.
  package var fingerprint: Fingerprint? {
    switch self {
    case .invited(let user, let role): .workspaceInvitation(user, role)
    case .withdrawn(let user): .workspaceWithdrawal(user)
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .invited: false
    case .withdrawn: true
    }
  }
}

extension Fingerprint {
  static func workspaceInvitation(_ user: UserID, _ role: WorkspaceRole) -> Fingerprint {
    Fingerprint(.text("workspace.invite"), .id(user.uuid), .number(Int64(role.rawValue)))
  }

  static func workspaceWithdrawal(_ user: UserID) -> Fingerprint {
    Fingerprint(.text("workspace.uninvite"), .id(user.uuid))
  }
}

// MARK: - Decide

extension WorkspaceDecider {
  /// At most the own role, and never ownership. What another has said is said again, for it gives no more than who said it
  /// last still has. Under a key it is recorded again, for only so is its late retry known when the user has declined since.
  static func invite(
    _ user: UserID, _ role: WorkspaceRole, by context: CommandContext, in state: WorkspaceState,
    _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    let workspace = try workspace(state)
    guard directory.isRegistered(user) else { throw .userNotFound }
    guard role != .owner, role <= (try workspaceActor(of: context, in: state)).highestRole else {
      throw .inviteRoleNotAllowed
    }
    if context.command == nil {
      if let member = workspace.members[user] { return .alreadyDone(member.joined) }
      if let earlier = workspace.invited[user], earlier.role == role, earlier.maker == context.actor {
        return .alreadyDone(earlier.made)
      }
    }
    let isNew = workspace.members[user] == nil && workspace.invited[user] == nil
    guard !isNew || workspace.invited.count < Limits.invitationsPerWorkspace else { throw .tooManyInvitations }
    return .record([.invitations(.invited(user, role: role))])
  }

  static func withdrawInvitation(
    of user: UserID, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    guard state.workspace?.invited[user] != nil else { throw .invitationNotFound }
    return .record([.invitations(.withdrawn(user))])
  }

  static func acceptInvitation(
    by context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    let user = try actor(of: context)
    guard let workspace = state.workspace else { throw .invitationNotFound }
    if let member = workspace.members[user] { return repeated(.invitation, of: user, member, by: context) }
    guard let invitation = workspace.invited[user] else { throw .invitationNotFound }
    try requirePlaceForMember(in: workspace)
    let role = given(invitation.role, by: invitation.maker, in: workspace)
    return .record([.members(.joined(user, role: role, by: .invitation))])
  }
}

// MARK: - Evolve

extension Workspace {
  mutating func apply(_ event: WorkspaceEvent.Invitations, _ stamp: Stamp, by actor: UserID?) {
    switch event {
    case .invited(let user, let role):
      guard members[user] == nil else { return }
      invited[user] = Invitation(role: role, made: stamp, maker: actor)
    case .withdrawn(let user):
      invited[user] = nil
    }
  }
}
