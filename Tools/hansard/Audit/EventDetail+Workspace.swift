import ChatDomain
import ChatPrimitives

extension EventDetail {
  static func fields(of event: WorkspaceEvent) -> [(String, JSONValue)] {
    switch event {
    case .created(let creation): [("name", .text(creation.name))]
    case .edited(let edit): fields(name: edit.name, topic: edit.topic, picture: edit.picture)
    case .deleted, .inviteRevoked, .memberLeft, .memberRemoved, .invitationWithdrawn: []
    case .inviteCreated(let invite):
      fields(role: invite.role.name, expiresAt: invite.expiresAt, maximumUses: invite.maximumUses)
    case .memberJoined(_, let role, let admission): [("role", .text(role.name))] + fields(of: admission)
    case .admissionRepeated(_, let admission): fields(of: admission)
    case .memberInvited(_, let role), .roleChanged(_, let role): [("role", .text(role.name))]
    case .erased: erased
    }
  }

  private static func fields(of admission: WorkspaceAdmission) -> [(String, JSONValue)] {
    switch admission {
    case .link(let id): [("invite", .text(id.description))]
    case .invitation: [("byInvitation", .bool(true))]
    case .service: []
    }
  }
}
