import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension EventCodec {
  /// Nil for an erased fact, which is never written anew.
  static func encode(_ event: WorkspaceEvent) -> EncodedBody? {
    switch event {
    case .lifecycle(.created(let creation)):
      EncodedBody(.workspaceCreated, Hansard_V1_WorkspaceCreated.with { $0.name = creation.name })
    case .lifecycle(.edited(let edit)):
      EncodedBody(
        .workspaceEdited,
        Hansard_V1_WorkspaceEdited.with {
          if let name = edit.name { $0.name = name }
          if let topic = edit.topic { $0.topic = topic }
          if let picture = edit.picture { $0.picture = picture.encoded }
        })
    case .lifecycle(.deleted): EncodedBody(.workspaceDeleted)
    case .sharing(.inviteCreated(let invite)):
      EncodedBody(
        .workspaceInviteCreated, subject: invite.id.uuid,
        Hansard_V1_WorkspaceInviteCreated.with {
          $0.tokenHash = Data(invite.tokenHash)
          $0.role = UInt32(invite.role.rawValue)
          $0.expiresAtMs = invite.expiresAt.milliseconds
          if let maximumUses = invite.maximumUses { $0.maximumUses = maximumUses }
        })
    case .sharing(.inviteRevoked(let invite)): EncodedBody(.workspaceInviteRevoked, subject: invite.uuid)
    case .members(.joined(let user, let role, let admission)):
      EncodedBody(
        .workspaceMemberJoined, subject: user.uuid,
        Hansard_V1_WorkspaceMemberJoined.with {
          $0.role = UInt32(role.rawValue)
          $0.inviteID = admission.encodedLink
          $0.byInvitation = admission == .invitation
        })
    case .members(.left(let user)): EncodedBody(.workspaceMemberLeft, subject: user.uuid)
    case .members(.removed(let user)): EncodedBody(.workspaceMemberRemoved, subject: user.uuid)
    case .members(.admissionRepeated(let user, let admission)):
      EncodedBody(
        .workspaceAdmissionRepeated, subject: user.uuid,
        Hansard_V1_WorkspaceAdmissionRepeated.with {
          $0.inviteID = admission.encodedLink
          $0.byInvitation = admission == .invitation
        })
    case .invitations(.invited(let user, let role)):
      EncodedBody(
        .workspaceMemberInvited, subject: user.uuid,
        Hansard_V1_WorkspaceMemberInvited.with { $0.role = UInt32(role.rawValue) })
    case .invitations(.withdrawn(let user)): EncodedBody(.workspaceInvitationWithdrawn, subject: user.uuid)
    case .members(.roleChanged(let user, let role)):
      EncodedBody(
        .workspaceRoleChanged, subject: user.uuid,
        Hansard_V1_WorkspaceRoleChanged.with { $0.role = UInt32(role.rawValue) })
    case .erased: nil
    }
  }

  /// What the envelope alone tells is read also when the payload was erased.
  static func decode(_ kind: WorkspaceEventKind, _ reader: PayloadReader) throws(CodecError) -> WorkspaceEvent {
    switch kind {
    case .workspaceDeleted: return .lifecycle(.deleted)
    case .workspaceInviteRevoked: return .sharing(.inviteRevoked(try reader.subject(InviteID.self)))
    case .workspaceMemberLeft: return .members(.left(try reader.subject(UserID.self)))
    case .workspaceMemberRemoved: return .members(.removed(try reader.subject(UserID.self)))
    case .workspaceInvitationWithdrawn: return .invitations(.withdrawn(try reader.subject(UserID.self)))
    case .workspaceCreated:
      guard let body = try reader.message(Hansard_V1_WorkspaceCreated.self) else { break }
      return .lifecycle(.created(WorkspaceCreation(name: body.name, creator: try reader.actor())))
    case .workspaceEdited:
      guard let body = try reader.message(Hansard_V1_WorkspaceEdited.self) else { break }
      return .lifecycle(
        .edited(
          WorkspaceEdit(
            name: body.hasName ? body.name : nil, topic: body.hasTopic ? body.topic : nil,
            picture: body.hasPicture ? try reader.picture(body.picture) : nil)))
    case .workspaceInviteCreated:
      guard let body = try reader.message(Hansard_V1_WorkspaceInviteCreated.self) else { break }
      return .sharing(
        .inviteCreated(
          WorkspaceInvite(
            id: try reader.subject(InviteID.self), tokenHash: Array(body.tokenHash),
            role: try reader.value(body.role, WorkspaceRole.self), expiresAt: Timestamp(milliseconds: body.expiresAtMs),
            maximumUses: body.hasMaximumUses ? body.maximumUses : nil)))
    case .workspaceMemberJoined:
      guard let body = try reader.message(Hansard_V1_WorkspaceMemberJoined.self) else { break }
      return .members(
        .joined(
          try reader.subject(UserID.self), role: try reader.value(body.role, WorkspaceRole.self),
          by: try admission(body.inviteID, body.byInvitation, reader)))
    case .workspaceAdmissionRepeated:
      guard let body = try reader.message(Hansard_V1_WorkspaceAdmissionRepeated.self) else { break }
      return .members(
        .admissionRepeated(
          try reader.subject(UserID.self), try admission(body.inviteID, body.byInvitation, reader)))
    case .workspaceMemberInvited:
      guard let body = try reader.message(Hansard_V1_WorkspaceMemberInvited.self) else { break }
      return .invitations(
        .invited(try reader.subject(UserID.self), role: try reader.value(body.role, WorkspaceRole.self)))
    case .workspaceRoleChanged:
      guard let body = try reader.message(Hansard_V1_WorkspaceRoleChanged.self) else { break }
      return .members(.roleChanged(try reader.subject(UserID.self), try reader.value(body.role, WorkspaceRole.self)))
    }
    return .erased(kind: reader.kind.rawValue)
  }

  private static func admission(
    _ link: Data, _ byInvitation: Bool, _ reader: PayloadReader
  ) throws(CodecError) -> WorkspaceAdmission {
    if let id = try reader.id(link) as InviteID? { return .link(id) }
    return byInvitation ? .invitation : .service
  }
}

extension WorkspaceAdmission {
  /// The link's sixteen bytes; empty for any other way in.
  fileprivate var encodedLink: Data {
    switch self {
    case .link(let id): Data(id.uuid.bytes)
    case .invitation, .service: Data()
    }
  }
}
