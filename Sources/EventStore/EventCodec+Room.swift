import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension EventCodec {
  /// Nil for an erased fact, which is never written anew.
  static func encode(_ event: RoomEvent) -> EncodedBody? {
    switch event {
    case .created(let creation):
      EncodedBody(
        .roomCreated,
        Hansard_V1_RoomCreated.with {
          $0.kind = UInt32(creation.kind.rawValue)
          $0.name = creation.name
        })
    case .renamed(let name):
      EncodedBody(.roomRenamed, Hansard_V1_RoomRenamed.with { $0.name = name })
    case .archived:
      EncodedBody(.roomArchived)
    case .inviteCreated(let invite):
      EncodedBody(.inviteCreated, subject: invite.id.uuid, Hansard_V1_InviteCreated.with(invite))
    case .inviteRevoked(let invite):
      EncodedBody(.inviteRevoked, subject: invite.uuid)
    case .memberJoined(let user, let role, let invite):
      EncodedBody(
        .memberJoined, subject: user.uuid,
        Hansard_V1_MemberJoined.with {
          $0.role = UInt32(role.rawValue)
          if let invite { $0.inviteID = Data(invite.uuid.bytes) }
        })
    case .memberAdded(let user, let role):
      EncodedBody(
        .memberAdded, subject: user.uuid, Hansard_V1_MemberAdded.with { $0.role = UInt32(role.rawValue) })
    case .memberLeft(let user):
      EncodedBody(.memberLeft, subject: user.uuid)
    case .memberRemoved(let user):
      EncodedBody(.memberRemoved, subject: user.uuid)
    case .admissionRepeated(let user, let admission):
      EncodedBody(.admissionRepeated, subject: user.uuid, Hansard_V1_AdmissionRepeated.with(admission))
    case .muted(let user, let until):
      EncodedBody(
        .roomMuted, subject: user.uuid,
        Hansard_V1_RoomMuted.with { if let until { $0.untilMs = until.milliseconds } })
    case .messageSent(let message, _, let text):
      text.map { text in
        EncodedBody(.messageSent, subject: message.uuid, Hansard_V1_MessageSent.with { $0.text = text })
      }
    case .messageEdited(let message, let ordinal, let text):
      text.map { text in
        EncodedBody(
          .messageEdited, subject: message.uuid,
          Hansard_V1_MessageEdited.with {
            $0.text = text
            $0.ordinal = ordinal
          })
      }
    case .messageDeleted(let message, let ordinal):
      EncodedBody(.messageDeleted, subject: message.uuid, Hansard_V1_MessageDeleted.with { $0.ordinal = ordinal })
    case .readMarkerMoved(_, let message, let ordinal):
      EncodedBody(.readMarkerMoved, subject: message.uuid, Hansard_V1_ReadMarkerMoved.with { $0.ordinal = ordinal })
    case .erased: nil
    }
  }

  /// What the envelope alone tells is read also when the payload was erased: erasing undoes no removal, and a message
  /// keeps its place in the room without its text.
  static func decodeRoom(_ reader: PayloadReader) throws(CodecError) -> RoomEvent {
    switch reader.kind {
    case .roomArchived: return .archived
    case .inviteRevoked: return .inviteRevoked(try reader.subject(InviteID.self))
    case .memberLeft: return .memberLeft(try reader.subject(UserID.self))
    case .memberRemoved: return .memberRemoved(try reader.subject(UserID.self))
    case .messageSent:
      let body = try reader.message(Hansard_V1_MessageSent.self)
      return .messageSent(try reader.subject(MessageID.self), author: try reader.actor(), text: body?.text)
    case .roomCreated:
      guard let body = try reader.message(Hansard_V1_RoomCreated.self) else { break }
      let kind = try reader.value(body.kind, RoomKind.self)
      return .created(RoomCreation(kind: kind, name: body.name, creator: reader.actorIfAny))
    case .roomRenamed:
      guard let body = try reader.message(Hansard_V1_RoomRenamed.self) else { break }
      return .renamed(name: body.name)
    case .inviteCreated:
      guard let body = try reader.message(Hansard_V1_InviteCreated.self) else { break }
      return .inviteCreated(try decodeInvite(body, reader))
    case .memberJoined:
      guard let body = try reader.message(Hansard_V1_MemberJoined.self) else { break }
      let (role, invite) = (try reader.value(body.role, Role.self), try reader.id(Array(body.inviteID)) as InviteID?)
      return .memberJoined(try reader.subject(UserID.self), role: role, invite: invite)
    case .memberAdded:
      guard let body = try reader.message(Hansard_V1_MemberAdded.self) else { break }
      return .memberAdded(try reader.subject(UserID.self), role: try reader.value(body.role, Role.self))
    case .admissionRepeated:
      guard let body = try reader.message(Hansard_V1_AdmissionRepeated.self) else { break }
      return .admissionRepeated(try reader.subject(UserID.self), try decodeAdmission(body, reader))
    case .roomMuted:
      guard let body = try reader.message(Hansard_V1_RoomMuted.self) else { break }
      let until = body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil
      return .muted(try reader.subject(UserID.self), until: until)
    case .messageEdited:
      guard let body = try reader.message(Hansard_V1_MessageEdited.self) else { break }
      return .messageEdited(try reader.subject(MessageID.self), ordinal: body.ordinal, text: body.text)
    case .messageDeleted:
      guard let body = try reader.message(Hansard_V1_MessageDeleted.self) else { break }
      return .messageDeleted(try reader.subject(MessageID.self), ordinal: body.ordinal)
    case .readMarkerMoved:
      guard let body = try reader.message(Hansard_V1_ReadMarkerMoved.self) else { break }
      return .readMarkerMoved(try reader.actor(), to: try reader.subject(MessageID.self), ordinal: body.ordinal)
    case .userRegistered, .profileChanged, .sessionStarted, .sessionRefreshed, .sessionEnded, .deviceRegistered,
      .deviceUpdated, .pushTokenInvalidated, .deviceRemoved, .pushOutcomesRecorded:
      throw reader.failure(.unknownKind, "\(reader.kind.name) in a room's stream")
    }
    return .erased(kind: reader.kind.rawValue)
  }

  private static func decodeInvite(
    _ body: Hansard_V1_InviteCreated, _ reader: PayloadReader
  ) throws(CodecError) -> Invite {
    Invite(
      id: try reader.subject(InviteID.self), tokenHash: Array(body.tokenHash),
      role: try reader.value(body.role, Role.self), expiresAt: Timestamp(milliseconds: body.expiresAtMs),
      maximumUses: body.hasMaximumUses ? body.maximumUses : nil)
  }

  private static func decodeAdmission(
    _ body: Hansard_V1_AdmissionRepeated, _ reader: PayloadReader
  ) throws(CodecError) -> Admission {
    if let invite = try reader.id(Array(body.inviteID)) as InviteID? { return .invite(invite) }
    return body.byMember ? .member : .service
  }
}

extension Hansard_V1_AdmissionRepeated {
  fileprivate static func with(_ admission: Admission) -> Self {
    .with {
      switch admission {
      case .invite(let id): $0.inviteID = Data(id.uuid.bytes)
      case .service: break
      case .member: $0.byMember = true
      }
    }
  }
}

extension Hansard_V1_InviteCreated {
  fileprivate static func with(_ invite: Invite) -> Self {
    .with {
      $0.tokenHash = Data(invite.tokenHash)
      $0.role = UInt32(invite.role.rawValue)
      $0.expiresAtMs = invite.expiresAt.milliseconds
      if let maximumUses = invite.maximumUses { $0.maximumUses = maximumUses }
    }
  }
}
