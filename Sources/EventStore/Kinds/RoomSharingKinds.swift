import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension RoomEvent.Sharing: KindFamily {
  static let kinds = [inviteCreatedKind, inviteRevokedKind]

  var kind: Kind<Self> {
    switch self {
    case .inviteCreated: Self.inviteCreatedKind
    case .inviteRevoked: Self.inviteRevokedKind
    }
  }

  private static let inviteCreatedKind = Kind<Self>(
    110, "invite.created", .secret,
    write: { event, output in
      guard case .inviteCreated(let invite) = event else { return }
      output.write(
        subject: invite.id.uuid,
        Hansard_V1_InviteCreated.with {
          $0.tokenHash = Data(invite.tokenHash)
          $0.role = UInt32(invite.role.rawValue)
          if let expiresAt = invite.expiresAt { $0.expiresAtMs = expiresAt.milliseconds }
          $0.neverExpires = invite.expiresAt == nil
          if let maximumUses = invite.maximumUses { $0.maximumUses = maximumUses }
          if let codeHash = invite.codeHash { $0.codeHash = Data(codeHash) }
        }, shows: .invite(invite, role: invite.role.name))
    },
    read: { (body: Hansard_V1_InviteCreated, reader) in
      .inviteCreated(
        Invite(
          id: try reader.subject(InviteID.self), tokenHash: Array(body.tokenHash),
          role: try reader.value(body.role, Role.self),
          expiresAt: body.neverExpires ? nil : Timestamp(milliseconds: body.expiresAtMs),
          maximumUses: body.hasMaximumUses ? body.maximumUses : nil,
          codeHash: body.codeHash.isEmpty ? nil : Array(body.codeHash)))
    })

  private static let inviteRevokedKind = Kind<Self>(
    111, "invite.revoked",
    write: { event, output in
      guard case .inviteRevoked(let invite) = event else { return }
      output.write(subject: invite.uuid)
    },
    readEnvelope: { .inviteRevoked(try $0.subject(InviteID.self)) })
}
