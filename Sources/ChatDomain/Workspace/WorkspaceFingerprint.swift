package import ChatPrimitives

extension WorkspaceCommand {
  /// What the command says. Equal to the fingerprint of the first event that it records.
  package var fingerprint: Fingerprint {
    switch self {
    case .create(let creation): creation.fingerprint
    case .edit(let edit): .edit(edit)
    case .delete: .workspaceDeletion
    case .createInvite(let invite): invite.fingerprint
    case .revokeInvite(let id): .workspaceInviteRevocation(id)
    case .acceptInvite(let id): .workspaceJoining(by: .link(id))
    case .invite(let user, let role): .workspaceInvitation(user, role)
    case .withdrawInvitation(let user): .workspaceWithdrawal(user)
    case .acceptInvitation: .workspaceJoining(by: .invitation)
    case .join: .workspaceJoining(by: .service)
    case .leave: .workspaceLeaving
    case .removeMember(let user): .workspaceRemoval(user)
    case .changeRole(let user, let role): .workspaceRoleChange(user, role)
    case .transfer(let user): .workspaceRoleChange(user, .owner)
    }
  }
}
