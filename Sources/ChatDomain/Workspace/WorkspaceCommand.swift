package import ChatPrimitives

/// What a client asks of one workspace. `CommandContext` says who acts.
package enum WorkspaceCommand: RetriableCommand, Equatable {
  case create(WorkspaceCreation)
  case edit(WorkspaceEdit)
  case delete

  case createInvite(WorkspaceInvite)
  case revokeInvite(InviteID)
  /// The actor comes in by a link.
  case acceptInvite(InviteID)

  /// The user may come in with this role.
  case invite(UserID, WorkspaceRole)
  /// The invitation of this user is taken back, or, by the user, declined.
  case withdrawInvitation(UserID)
  /// The actor, who was invited, comes in.
  case acceptInvitation
  /// A service brings in the actor.
  case join

  case leave
  case removeMember(UserID)
  case changeRole(UserID, WorkspaceRole)
  /// The actor, or a service, gives ownership to this member.
  case transfer(to: UserID)

  /// Whether a retry is recognised by the ID of what the command creates.
  package var isKnownByItself: Bool {
    switch self {
    case .create, .createInvite: true
    case .edit, .delete, .revokeInvite, .acceptInvite, .invite, .withdrawInvitation, .acceptInvitation, .join, .leave,
      .removeMember, .changeRole, .transfer:
      false
    }
  }
}
