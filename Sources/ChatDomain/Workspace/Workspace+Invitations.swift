package import ChatPrimitives

extension WorkspaceEvent {
  /// Invitations that name a user.
  package enum Invitations: Sendable, Equatable {
    /// The user may join. If the user is a member, it changes nothing and is recorded for the idempotency key.
    case invited(UserID, role: WorkspaceRole)
    /// The invited user declined, or the invitation was withdrawn.
    case withdrawn(UserID)
  }
}

extension WorkspaceEvent.Invitations: EventFamily {
  /// Does not include the actor: idempotency keys are looked up within one actor.
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

// MARK: - Commands

extension WorkspaceCommand {
  package enum Invitations: Sendable, Equatable {
    /// The user may join with this role.
    case invite(UserID, WorkspaceRole)
    /// Withdraws the invitation of this user. The invited user declines with the same command.
    case withdraw(UserID)
    /// The invited actor joins.
    case accept
  }
}

extension WorkspaceCommand.Invitations: AggregateCommand {
  package typealias Entity = WorkspaceCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .invite(let user, let role): .workspaceInvitation(user, role)
    case .withdraw(let user): .workspaceWithdrawal(user)
    case .accept: .workspaceJoining(by: .invitation)
    }
  }
}

// MARK: - Decide

extension WorkspaceDecider {
  func decide(
    _ command: WorkspaceCommand.Invitations, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    switch command {
    case .invite(let user, let role): try invite(user, role, directory)
    case .withdraw(let user): try withdraw(user, directory)
    case .accept: try accept(directory)
    }
  }

  /// Administrators can give roles up to their own, and nobody can give ownership. An invitation by another member is
  /// recorded again, because an invitation gives at most the current role of its last maker. Under a key every
  /// invitation is recorded again, so that a late retry is recognised after the user has declined.
  private func invite(
    _ user: UserID, _ role: WorkspaceRole, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    try requireRole(.administrator)
    if let done = try doneBefore() { return done }
    let workspace = try workspace()
    try directory.requireRegistered(user)
    guard role != .owner, role <= (try workspaceActor()).highestRole else { throw .inviteRoleNotAllowed }
    if context.command == nil {
      if let member = workspace.members[user] { return .alreadyDone(member.joined) }
      if let earlier = workspace.invited[user], earlier.role == role, earlier.maker == context.actor {
        return .alreadyDone(earlier.made)
      }
    }
    let isNew = workspace.members[user] == nil && workspace.invited[user] == nil
    guard !isNew || workspace.invited.count < Limits.invitationsPerWorkspace else { throw .tooManyInvitations }
    let invited: [WorkspaceEvent] = [.invitations(.invited(user, role: role))]
    return isNew ? .record(invited) : .recordAgain(invited)
  }

  private func withdraw(
    _ user: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    if context.actor == user { try requireInvitable(directory) } else { try requireRole(.administrator) }
    if let done = try doneBefore() { return done }
    guard state.workspace?.invited[user] != nil else { throw .invitationNotFound }
    return .record([.invitations(.withdrawn(user))])
  }

  private func accept(_ directory: borrowing some Directory) throws(Rejection) -> Decision<WorkspaceEvent> {
    let workspace = try requireInvitable(directory)
    if let done = try doneBefore() { return done }
    let user = try actor()
    if let member = workspace.members[user] { return repeatedJoin(by: .invitation, of: user, member) }
    guard let invitation = workspace.invited[user] else { throw .invitationNotFound }
    try requirePlaceForMember(in: workspace)
    let role = grantedRole(invitation.role, by: invitation.maker, in: workspace)
    return .record([.members(.joined(user, role: role, by: .invitation))])
  }

  /// The workspace, for a user who may have an invitation. Whether there is one is checked after `doneBefore`, and a
  /// missing invitation is rejected in the same way as a missing workspace.
  @discardableResult
  private func requireInvitable(_ directory: borrowing some Directory) throws(Rejection) -> Workspace {
    try requireRegisteredActor(directory)
    guard let workspace = state.workspace else { throw .invitationNotFound }
    return workspace
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
