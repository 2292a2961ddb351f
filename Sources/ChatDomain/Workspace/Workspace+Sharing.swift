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

// MARK: - Decide

extension WorkspaceDecider {
  /// Whether this was done before is asked first: a late retry of a link that has expired since is still a retry.
  static func createInvite(
    _ invite: WorkspaceInvite, by context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    let workspace = try workspace(state)
    if let earlier = workspace.invites[invite.id] {
      guard earlier.invite.fingerprint == invite.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.created)
    }
    guard invite.role != .owner, invite.role <= (try workspaceActor(of: context, in: state)).highestRole else {
      throw .inviteRoleNotAllowed
    }
    try invite.requireForm(at: context.time)
    guard workspace.invites.count < Limits.invitesEverPerWorkspace else { throw .invitesExhausted }
    guard hasPlaceForInvite(workspace, at: context.time) else { throw .tooManyInvites }
    return .record([.sharing(.inviteCreated(invite))])
  }

  /// The workspace keeps every link; only when it holds many are the live ones counted.
  private static func hasPlaceForInvite(_ workspace: Workspace, at time: Timestamp) -> Bool {
    guard workspace.invites.count >= Limits.invitesPerWorkspace else { return true }
    return workspace.invites.values.lazy.filter { $0.isLive(at: time) }.count < Limits.invitesPerWorkspace
  }

  static func revokeInvite(_ id: InviteID, in state: WorkspaceState) throws(Rejection) -> Decision<WorkspaceEvent> {
    guard let invite = try workspace(state).invites[id] else { throw .inviteNotFound }
    if let revoked = invite.revoked { return .alreadyDone(revoked) }
    return .record([.sharing(.inviteRevoked(id))])
  }

  static func acceptInvite(
    _ id: InviteID, by context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    let user = try actor(of: context)
    guard let workspace = state.workspace, let invite = workspace.invites[id] else { throw .inviteNotFound }
    if let member = workspace.members[user] { return repeated(.link(id), of: user, member, by: context) }
    try invite.requireUsable(at: context.time)
    try requirePlaceForMember(in: workspace)
    return .record([
      .members(.joined(user, role: given(invite.invite.role, by: invite.maker, in: workspace), by: .link(id)))
    ])
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
