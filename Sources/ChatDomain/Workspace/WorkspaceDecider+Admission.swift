import ChatPrimitives

/// Links, invitations by name, and coming in.
extension WorkspaceDecider {
  // MARK: Links

  /// Whether this was done before is asked first: a late retry of a link that has expired since is still a retry.
  static func createInvite(
    _ invite: WorkspaceInvite, by act: Act, in state: WorkspaceState
  ) throws(Rejection) -> Verdict<WorkspaceEvent> {
    let workspace = try workspace(state)
    if let earlier = workspace.invites[invite.id] {
      guard earlier.invite.fingerprint == invite.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.created)
    }
    guard invite.role != .owner, invite.role <= (try standing(of: act, in: state)).highestRole else {
      throw .inviteRoleNotAllowed
    }
    try invite.requireForm(at: act.time)
    guard workspace.invites.count < Limits.invitesEverPerWorkspace else { throw .invitesExhausted }
    guard hasPlaceForInvite(workspace, at: act.time) else { throw .tooManyInvites }
    return .record([.inviteCreated(invite)])
  }

  /// The workspace keeps every link; only when it holds many are the live ones counted.
  private static func hasPlaceForInvite(_ workspace: Workspace, at time: Timestamp) -> Bool {
    guard workspace.invites.count >= Limits.invitesPerWorkspace else { return true }
    return workspace.invites.values.lazy.filter { $0.isLive(at: time) }.count < Limits.invitesPerWorkspace
  }

  static func revokeInvite(_ id: InviteID, in state: WorkspaceState) throws(Rejection) -> Verdict<WorkspaceEvent> {
    guard let invite = try workspace(state).invites[id] else { throw .inviteNotFound }
    if let revoked = invite.revoked { return .alreadyDone(revoked) }
    return .record([.inviteRevoked(id)])
  }

  static func acceptInvite(
    _ id: InviteID, by act: Act, in state: WorkspaceState
  ) throws(Rejection) -> Verdict<WorkspaceEvent> {
    let user = try actor(of: act)
    guard let workspace = state.workspace, let invite = workspace.invites[id] else { throw .inviteNotFound }
    if let member = workspace.members[user] { return repeated(.link(id), of: user, member, by: act) }
    try invite.requireUsable(at: act.time)
    try requirePlaceForMember(in: workspace)
    return .record([
      .memberJoined(user, role: given(invite.invite.role, by: invite.maker, in: workspace), by: .link(id))
    ])
  }

  /// What a link or an invitation gives by now: no more than its maker still has in the workspace, else who was put out or
  /// lowered would come back by an own link as what they were, or leave an administrator behind.
  private static func given(
    _ role: WorkspaceRole, by maker: UserID?, in workspace: Workspace
  ) -> WorkspaceRole {
    guard let maker else { return role }
    return min(role, workspace.members[maker]?.role ?? .member)
  }

  // MARK: Invitations

  /// At most the own role, and never ownership. What another has said is said again, for it gives no more than who said it
  /// last still has. Under a key it is recorded again, for only so is its late retry known when the user has declined since.
  static func invite(
    _ user: UserID, _ role: WorkspaceRole, by act: Act, in state: WorkspaceState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<WorkspaceEvent> {
    let workspace = try workspace(state)
    guard directory.isRegistered(user) else { throw .userNotFound }
    guard role != .owner, role <= (try standing(of: act, in: state)).highestRole else { throw .inviteRoleNotAllowed }
    if act.command == nil {
      if let member = workspace.members[user] { return .alreadyDone(member.joined) }
      if let earlier = workspace.invited[user], earlier.role == role, earlier.maker == act.actor {
        return .alreadyDone(earlier.made)
      }
    }
    let isNew = workspace.members[user] == nil && workspace.invited[user] == nil
    guard !isNew || workspace.invited.count < Limits.invitationsPerWorkspace else { throw .tooManyInvitations }
    return .record([.memberInvited(user, role: role)])
  }

  static func withdrawInvitation(
    of user: UserID, in state: WorkspaceState
  ) throws(Rejection) -> Verdict<WorkspaceEvent> {
    guard state.workspace?.invited[user] != nil else { throw .invitationNotFound }
    return .record([.invitationWithdrawn(user)])
  }

  static func acceptInvitation(by act: Act, in state: WorkspaceState) throws(Rejection) -> Verdict<WorkspaceEvent> {
    let user = try actor(of: act)
    guard let workspace = state.workspace else { throw .invitationNotFound }
    if let member = workspace.members[user] { return repeated(.invitation, of: user, member, by: act) }
    guard let invitation = workspace.invited[user] else { throw .invitationNotFound }
    try requirePlaceForMember(in: workspace)
    let role = given(invitation.role, by: invitation.maker, in: workspace)
    return .record([.memberJoined(user, role: role, by: .invitation)])
  }

  /// By a service's word: with the role that the user's invitation gives, if there is one.
  static func join(by act: Act, in state: WorkspaceState) throws(Rejection) -> Verdict<WorkspaceEvent> {
    let user = try actor(of: act)
    let workspace = try workspace(state)
    if let member = workspace.members[user] { return repeated(.service, of: user, member, by: act) }
    try requirePlaceForMember(in: workspace)
    let role = workspace.invited[user].map { given($0.role, by: $0.maker, in: workspace) } ?? .member
    return .record([.memberJoined(user, role: role, by: .service)])
  }

  /// Who is a member already comes in no second time. Under a key that is recorded, for only so is its late retry known
  /// when the user has left since.
  private static func repeated(
    _ admission: WorkspaceAdmission, of user: UserID, _ member: WorkspaceMember, by act: Act
  ) -> Verdict<WorkspaceEvent> {
    act.command == nil ? .alreadyDone(member.joined) : .record([.admissionRepeated(user, admission)])
  }

  private static func requirePlaceForMember(in workspace: Workspace) throws(Rejection) {
    guard workspace.members.count < Limits.membersPerWorkspace else { throw .tooManyWorkspaceMembers }
  }
}
