import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension WorkspaceEvent.Lifecycle: KindFamily {
  static let kinds = [createdKind, editedKind, deletedKind]

  var kind: Kind<Self> {
    switch self {
    case .created: Self.createdKind
    case .edited: Self.editedKind
    case .deleted: Self.deletedKind
    }
  }

  private static let createdKind = Kind<Self>(
    300, "workspace.created", .disclosed,
    write: { event, output in
      guard case .created(let creation) = event else { return }
      output.write(
        Hansard_V1_WorkspaceCreated.with {
          $0.name = creation.name
          if let topic = creation.topic { $0.topic = topic }
        }, shows: .edit(name: creation.name, topic: creation.topic, picture: nil))
    },
    read: { (body: Hansard_V1_WorkspaceCreated, reader) in
      .created(
        WorkspaceCreation(
          name: body.name, creator: try reader.actor(), topic: body.hasTopic ? body.topic : nil))
    })

  private static let editedKind = Kind<Self>(
    301, "workspace.edited", .disclosed,
    write: { event, output in
      guard case .edited(let edit) = event else { return }
      output.write(
        Hansard_V1_WorkspaceEdited.with {
          if let name = edit.name { $0.name = name }
          if let topic = edit.topic { $0.topic = topic }
          if let picture = edit.picture { $0.picture = picture.encoded }
        }, shows: .edit(name: edit.name, topic: edit.topic, picture: edit.picture))
    },
    read: { (body: Hansard_V1_WorkspaceEdited, reader) in
      .edited(
        WorkspaceEdit(
          name: body.hasName ? body.name : nil, topic: body.hasTopic ? body.topic : nil,
          picture: body.hasPicture ? try reader.picture(body.picture) : nil))
    })

  private static let deletedKind = Kind<Self>(
    302, "workspace.deleted", write: { $1.write() }, readEnvelope: { _ in .deleted })
}

extension WorkspaceEvent.Sharing: KindFamily {
  static let kinds = [inviteCreatedKind, inviteRevokedKind]

  var kind: Kind<Self> {
    switch self {
    case .inviteCreated: Self.inviteCreatedKind
    case .inviteRevoked: Self.inviteRevokedKind
    }
  }

  private static let inviteCreatedKind = Kind<Self>(
    310, "workspace-invite.created", .secret,
    write: { event, output in
      guard case .inviteCreated(let invite) = event else { return }
      output.write(
        subject: invite.id.uuid,
        Hansard_V1_WorkspaceInviteCreated.with {
          $0.tokenHash = Data(invite.tokenHash)
          $0.role = UInt32(invite.role.rawValue)
          if let expiresAt = invite.expiresAt { $0.expiresAtMs = expiresAt.milliseconds }
          $0.neverExpires = invite.expiresAt == nil
          if let maximumUses = invite.maximumUses { $0.maximumUses = maximumUses }
          if let codeHash = invite.codeHash { $0.codeHash = Data(codeHash) }
        }, shows: .invite(invite, role: invite.role.name))
    },
    read: { (body: Hansard_V1_WorkspaceInviteCreated, reader) in
      .inviteCreated(
        WorkspaceInvite(
          id: try reader.subject(InviteID.self), tokenHash: Array(body.tokenHash),
          role: try reader.value(body.role, WorkspaceRole.self),
          expiresAt: body.neverExpires ? nil : Timestamp(milliseconds: body.expiresAtMs),
          maximumUses: body.hasMaximumUses ? body.maximumUses : nil,
          codeHash: body.codeHash.isEmpty ? nil : Array(body.codeHash)))
    })

  private static let inviteRevokedKind = Kind<Self>(
    311, "workspace-invite.revoked",
    write: { event, output in
      guard case .inviteRevoked(let invite) = event else { return }
      output.write(subject: invite.uuid)
    },
    readEnvelope: { .inviteRevoked(try $0.subject(InviteID.self)) })
}

extension WorkspaceEvent.Members: KindFamily {
  static let kinds = [joinedKind, leftKind, removedKind, admissionRepeatedKind, roleChangedKind]

  var kind: Kind<Self> {
    switch self {
    case .joined: Self.joinedKind
    case .left: Self.leftKind
    case .removed: Self.removedKind
    case .admissionRepeated: Self.admissionRepeatedKind
    case .roleChanged: Self.roleChangedKind
    }
  }

  private static let joinedKind = Kind<Self>(
    320, "workspace-member.joined", .disclosed,
    write: { event, output in
      guard case .joined(let user, let role, let admission) = event else { return }
      output.write(
        subject: user.uuid,
        Hansard_V1_WorkspaceMemberJoined.with {
          $0.role = UInt32(role.rawValue)
          $0.inviteID = admission.encodedLink
          $0.byInvitation = admission == .invitation
        }, shows: [("role", .text(role.name))] + admission.shownFields)
    },
    read: { (body: Hansard_V1_WorkspaceMemberJoined, reader) in
      .joined(
        try reader.subject(UserID.self), role: try reader.value(body.role, WorkspaceRole.self),
        by: try reader.admission(body.inviteID, body.byInvitation))
    })

  private static let leftKind = Kind<Self>(
    322, "workspace-member.left",
    write: { event, output in
      guard case .left(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .left(try $0.subject(UserID.self)) })

  private static let removedKind = Kind<Self>(
    323, "workspace-member.removed",
    write: { event, output in
      guard case .removed(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .removed(try $0.subject(UserID.self)) })

  private static let admissionRepeatedKind = Kind<Self>(
    324, "workspace-admission.repeated", .disclosed,
    write: { event, output in
      guard case .admissionRepeated(let user, let admission) = event else { return }
      output.write(
        subject: user.uuid,
        Hansard_V1_WorkspaceAdmissionRepeated.with {
          $0.inviteID = admission.encodedLink
          $0.byInvitation = admission == .invitation
        }, shows: admission.shownFields)
    },
    read: { (body: Hansard_V1_WorkspaceAdmissionRepeated, reader) in
      .admissionRepeated(
        try reader.subject(UserID.self), try reader.admission(body.inviteID, body.byInvitation))
    })

  private static let roleChangedKind = Kind<Self>(
    326, "workspace-role.changed", .disclosed,
    write: { event, output in
      guard case .roleChanged(let user, let role) = event else { return }
      output.write(
        subject: user.uuid, Hansard_V1_WorkspaceRoleChanged.with { $0.role = UInt32(role.rawValue) },
        shows: [("role", .text(role.name))])
    },
    read: { (body: Hansard_V1_WorkspaceRoleChanged, reader) in
      .roleChanged(try reader.subject(UserID.self), try reader.value(body.role, WorkspaceRole.self))
    })
}

extension WorkspaceEvent.Invitations: KindFamily {
  static let kinds = [invitedKind, withdrawnKind]

  var kind: Kind<Self> {
    switch self {
    case .invited: Self.invitedKind
    case .withdrawn: Self.withdrawnKind
    }
  }

  private static let invitedKind = Kind<Self>(
    325, "workspace-member.invited", .disclosed,
    write: { event, output in
      guard case .invited(let user, let role) = event else { return }
      output.write(
        subject: user.uuid, Hansard_V1_WorkspaceMemberInvited.with { $0.role = UInt32(role.rawValue) },
        shows: [("role", .text(role.name))])
    },
    read: { (body: Hansard_V1_WorkspaceMemberInvited, reader) in
      .invited(try reader.subject(UserID.self), role: try reader.value(body.role, WorkspaceRole.self))
    })

  private static let withdrawnKind = Kind<Self>(
    327, "workspace-invitation.withdrawn",
    write: { event, output in
      guard case .withdrawn(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .withdrawn(try $0.subject(UserID.self)) })
}

extension WorkspaceJoinMethod {
  /// The link's ID as sixteen bytes; empty for other ways to join.
  fileprivate var encodedLink: Data {
    switch self {
    case .link(let id): Data(id.uuid.bytes)
    case .invitation, .service: Data()
    }
  }

  fileprivate var shownFields: ShownFields {
    switch self {
    case .link(let id): [("invite", .text(id.description))]
    case .invitation: [("byInvitation", .bool(true))]
    case .service: []
    }
  }
}

extension PayloadReader {
  fileprivate func admission(_ link: Data, _ byInvitation: Bool) throws(CodecError) -> WorkspaceJoinMethod {
    if let id = try id(link) as InviteID? { return .link(id) }
    return byInvitation ? .invitation : .service
  }
}
