import ChatDomain
import ChatPrimitives

extension EventDetail {
  static func fields(of event: WorkspaceEvent) -> [(String, JSONValue)] {
    switch event {
    case .lifecycle(.created(let creation)): [("name", .text(creation.name))]
    case .lifecycle(.edited(let edit)): fields(name: edit.name, topic: edit.topic, picture: edit.picture)
    case .lifecycle(.deleted), .sharing(.inviteRevoked), .members(.left), .members(.removed), .invitations(.withdrawn):
      []
    case .sharing(.inviteCreated(let invite)):
      fields(role: invite.role.name, expiresAt: invite.expiresAt, maximumUses: invite.maximumUses)
    case .members(.joined(_, let role, let admission)): [("role", .text(role.name))] + fields(of: admission)
    case .members(.admissionRepeated(_, let admission)): fields(of: admission)
    case .invitations(.invited(_, let role)), .members(.roleChanged(_, let role)): [("role", .text(role.name))]
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
