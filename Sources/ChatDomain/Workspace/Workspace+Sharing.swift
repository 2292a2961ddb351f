package import ChatPrimitives

extension WorkspaceEvent {
  package enum Sharing: Sendable, Equatable {
    case inviteCreated(WorkspaceInvite)
    case inviteRevoked(InviteID)
  }
}

extension WorkspaceEvent.Sharing: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .inviteCreated(let invite): invite.fingerprint
    case .inviteRevoked(let id): .workspaceInviteRevocation(id)
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .inviteCreated: false
    case .inviteRevoked: true
    }
  }
}

extension Fingerprint {
  static func workspaceInviteRevocation(_ id: InviteID) -> Fingerprint {
    Fingerprint(.text("workspace.invite.revoke"), .id(id.uuid))
  }
}

// MARK: - Commands

extension WorkspaceCommand {
  package enum Sharing: Sendable, Equatable {
    case createInvite(WorkspaceInvite)
    case revokeInvite(InviteID)
    /// The actor joins with an invite.
    case acceptInvite(InviteID)
  }
}

extension WorkspaceCommand.Sharing: AggregateCommand {
  package typealias Entity = WorkspaceCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .createInvite(let invite): invite.fingerprint
    case .revokeInvite(let id): .workspaceInviteRevocation(id)
    case .acceptInvite(let id): .workspaceJoining(by: .link(id))
    }
  }

  /// A new invite is recognised by its ID.
  package var isKnownByItself: Bool {
    switch self {
    case .createInvite: true
    case .revokeInvite, .acceptInvite: false
    }
  }
}

// MARK: - Decide

extension WorkspaceDecider {
  func decide(
    _ command: WorkspaceCommand.Sharing, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    switch command {
    case .createInvite(let invite): try createInvite(invite, directory)
    case .revokeInvite(let id): try revokeInvite(id)
    case .acceptInvite(let id): try acceptInvite(id, directory)
    }
  }

  /// An earlier invite with the same ID is checked before the other rules, so that a late retry succeeds even after the
  /// invite has expired.
  private func createInvite(
    _ invite: WorkspaceInvite, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    try requireRole(.administrator)
    let workspace = try workspace()
    if let earlier = workspace.invites[invite.id] {
      guard earlier.invite.fingerprint == invite.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.created)
    }
    guard invite.role <= (try workspaceActor()).highestRole else { throw .inviteRoleNotAllowed }
    try invite.fieldFlaws(at: context.time).requireNone()
    if invite.expiresAt == nil, !directory.allowsInvitesWithoutExpiry { throw .inviteExpiryRequired }
    guard workspace.invites.count < Limits.invitesEverPerWorkspace else { throw .invitesExhausted }
    guard hasPlaceForInvite(workspace) else { throw .tooManyInvites }
    try directory.requireFreeCode(of: invite)
    return .record([.sharing(.inviteCreated(invite))])
  }

  /// The workspace keeps every invite; the live ones are counted only if there are many.
  private func hasPlaceForInvite(_ workspace: Workspace) -> Bool {
    guard workspace.invites.count >= Limits.invitesPerWorkspace else { return true }
    return workspace.invites.values.lazy.filter { $0.isLive(at: context.time) }.count < Limits.invitesPerWorkspace
  }

  private func revokeInvite(_ id: InviteID) throws(Rejection) -> Decision<WorkspaceEvent> {
    try requireRole(.administrator)
    if let done = try doneBefore() { return done }
    guard let invite = try workspace().invites[id] else { throw .inviteNotFound }
    if let revoked = invite.revoked { return .alreadyDone(revoked) }
    return .record([.sharing(.inviteRevoked(id))])
  }

  /// Any registered user can use an invite. A user without one does not learn that the workspace exists.
  private func acceptInvite(
    _ id: InviteID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    try requireRegisteredActor(directory)
    guard let workspace = state.workspace, let invite = workspace.invites[id] else { throw .inviteNotFound }
    if let done = try doneBefore() { return done }
    let user = try actor()
    if let member = workspace.members[user] { return repeatedJoin(by: .link(id), of: user, member) }
    try invite.requireUsable(at: context.time)
    try requirePlaceForMember(in: workspace)
    let role = grantedRole(invite.invite.role, by: invite.maker, in: workspace)
    return .record([.members(.joined(user, role: role, by: .link(id)))])
  }
}

// MARK: - Evolve

extension Workspace {
  mutating func apply(_ event: WorkspaceEvent.Sharing, _ stamp: Stamp, by actor: UserID?) {
    switch event {
    case .inviteCreated(let invite):
      invites[invite.id] = WorkspaceInviteState(invite: invite, created: stamp, maker: actor)
    case .inviteRevoked(let id):
      invites[id]?.revoked = stamp
    }
  }
}
