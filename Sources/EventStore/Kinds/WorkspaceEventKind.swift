/// The kinds of facts of a workspace's stream. Numbers stand in the log and are forever.
package enum WorkspaceEventKind: UInt16, Sendable, CaseIterable {
  case workspaceCreated = 300
  case workspaceEdited = 301
  case workspaceDeleted = 302
  case workspaceInviteCreated = 310
  case workspaceInviteRevoked = 311
  case workspaceMemberJoined = 320
  case workspaceMemberLeft = 322
  case workspaceMemberRemoved = 323
  case workspaceAdmissionRepeated = 324
  case workspaceMemberInvited = 325
  case workspaceRoleChanged = 326
  case workspaceInvitationWithdrawn = 327

  /// What the tools print and filter by.
  package var name: String {
    switch self {
    case .workspaceCreated: "workspace.created"
    case .workspaceEdited: "workspace.edited"
    case .workspaceDeleted: "workspace.deleted"
    case .workspaceInviteCreated: "workspace-invite.created"
    case .workspaceInviteRevoked: "workspace-invite.revoked"
    case .workspaceMemberJoined: "workspace-member.joined"
    case .workspaceMemberLeft: "workspace-member.left"
    case .workspaceMemberRemoved: "workspace-member.removed"
    case .workspaceAdmissionRepeated: "workspace-admission.repeated"
    case .workspaceMemberInvited: "workspace-member.invited"
    case .workspaceRoleChanged: "workspace-role.changed"
    case .workspaceInvitationWithdrawn: "workspace-invitation.withdrawn"
    }
  }
}
