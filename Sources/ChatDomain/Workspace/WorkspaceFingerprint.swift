import ChatPrimitives

extension WorkspaceCommand {
  /// What the command says. Equal to the fingerprint of the first fact that it records.
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

extension WorkspaceEvent {
  /// What the command said that recorded this as its first fact; nil when the payload was erased.
  ///
  /// Who joined, left or declined is not a part of it: idempotency keys are looked up within one actor.
  package var fingerprint: Fingerprint? {
    switch self {
    case .created(let creation): creation.fingerprint
    case .edited(let edit): .edit(edit)
    case .deleted: .workspaceDeletion
    case .inviteCreated(let invite): invite.fingerprint
    case .inviteRevoked(let id): .workspaceInviteRevocation(id)
    case .memberJoined(_, _, let admission), .admissionRepeated(_, let admission): .workspaceJoining(by: admission)
    case .memberLeft: .workspaceLeaving
    case .memberRemoved(let user): .workspaceRemoval(user)
    case .memberInvited(let user, let role): .workspaceInvitation(user, role)
    case .invitationWithdrawn(let user): .workspaceWithdrawal(user)
    case .roleChanged(let user, let role): .workspaceRoleChange(user, role)
    case .erased: nil
    }
  }
}

extension Fingerprint {
  static func edit(_ edit: WorkspaceEdit) -> Fingerprint {
    Fingerprint([.text("workspace.edit"), .text(edit.name), .text(edit.topic)] + fields(of: edit.picture))
  }

  static var workspaceDeletion: Fingerprint { Fingerprint(.text("workspace.delete")) }

  static func workspaceInviteRevocation(_ id: InviteID) -> Fingerprint {
    Fingerprint(.text("workspace.invite.revoke"), .id(id.uuid))
  }

  static func workspaceJoining(by admission: WorkspaceAdmission) -> Fingerprint {
    switch admission {
    case .link(let id): Fingerprint(.text("workspace.join"), .number(1), .id(id.uuid))
    case .invitation: Fingerprint(.text("workspace.join"), .number(2))
    case .service: Fingerprint(.text("workspace.join"), .number(3))
    }
  }

  static var workspaceLeaving: Fingerprint { Fingerprint(.text("workspace.leave")) }

  static func workspaceRemoval(_ user: UserID) -> Fingerprint {
    Fingerprint(.text("workspace.remove"), .id(user.uuid))
  }

  static func workspaceInvitation(_ user: UserID, _ role: WorkspaceRole) -> Fingerprint {
    Fingerprint(.text("workspace.invite"), .id(user.uuid), .number(Int64(role.rawValue)))
  }

  static func workspaceWithdrawal(_ user: UserID) -> Fingerprint {
    Fingerprint(.text("workspace.uninvite"), .id(user.uuid))
  }

  static func workspaceRoleChange(_ user: UserID, _ role: WorkspaceRole) -> Fingerprint {
    Fingerprint(.text("workspace.role"), .id(user.uuid), .number(Int64(role.rawValue)))
  }
}
