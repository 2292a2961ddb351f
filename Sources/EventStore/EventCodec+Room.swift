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

  static func decodeRoom(_ reader: PayloadReader) throws(CodecError) -> RoomEvent {
    // A message keeps its place in the room even when its text is gone.
    if reader.kind == .messageSent {
      let text = try reader.message(Hansard_V1_MessageSent.self)?.text
      return .messageSent(try reader.subject(MessageID.self), author: try reader.actor(), text: text)
    }
    guard reader.payload != nil else { return .erased(kind: reader.kind.rawValue) }
    switch reader.kind {
    case .roomCreated, .roomRenamed, .roomArchived: return try decodeRoomItself(reader)
    case .inviteCreated, .inviteRevoked: return try decodeInvite(reader)
    case .memberJoined, .memberAdded, .memberLeft, .memberRemoved, .admissionRepeated, .roomMuted:
      return try decodeMember(reader)
    case .messageSent, .messageEdited, .messageDeleted, .readMarkerMoved: return try decodeMessage(reader)
    case .userRegistered, .profileChanged, .sessionStarted, .sessionRefreshed, .sessionEnded, .deviceRegistered,
      .deviceUpdated, .pushTokenInvalidated, .deviceRemoved, .pushOutcomesRecorded:
      throw reader.failure(.unknownKind, "\(reader.kind.name) in a room's stream")
    }
  }

  private static func decodeRoomItself(_ reader: PayloadReader) throws(CodecError) -> RoomEvent {
    if reader.kind == .roomArchived { return .archived }
    if reader.kind == .roomRenamed {
      return .renamed(name: try reader.message(Hansard_V1_RoomRenamed.self)?.name ?? "")
    }
    let body = try reader.message(Hansard_V1_RoomCreated.self) ?? .init()
    return .created(
      RoomCreation(
        kind: try reader.value(body.kind, RoomKind.self), name: body.name,
        creator: reader.actorIfAny))
  }

  private static func decodeInvite(_ reader: PayloadReader) throws(CodecError) -> RoomEvent {
    let id = try reader.subject(InviteID.self)
    if reader.kind == .inviteRevoked { return .inviteRevoked(id) }
    let body = try reader.message(Hansard_V1_InviteCreated.self) ?? .init()
    return .inviteCreated(
      Invite(
        id: id, tokenHash: Array(body.tokenHash), role: try reader.value(body.role, Role.self),
        expiresAt: Timestamp(milliseconds: body.expiresAtMs),
        maximumUses: body.hasMaximumUses ? body.maximumUses : nil))
  }

  private static func decodeMember(_ reader: PayloadReader) throws(CodecError) -> RoomEvent {
    let user = try reader.subject(UserID.self)
    if reader.kind == .memberLeft { return .memberLeft(user) }
    if reader.kind == .memberRemoved { return .memberRemoved(user) }
    if reader.kind == .admissionRepeated {
      let body = try reader.message(Hansard_V1_AdmissionRepeated.self) ?? .init()
      if let invite = try reader.id(Array(body.inviteID)) as InviteID? {
        return .admissionRepeated(user, .invite(invite))
      }
      return .admissionRepeated(user, body.byMember ? .member : .service)
    }
    if reader.kind == .memberAdded {
      let body = try reader.message(Hansard_V1_MemberAdded.self) ?? .init()
      return .memberAdded(user, role: try reader.value(body.role, Role.self))
    }
    if reader.kind == .roomMuted {
      let body = try reader.message(Hansard_V1_RoomMuted.self) ?? .init()
      return .muted(user, until: body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil)
    }
    let body = try reader.message(Hansard_V1_MemberJoined.self) ?? .init()
    return .memberJoined(
      user, role: try reader.value(body.role, Role.self), invite: try reader.id(Array(body.inviteID)))
  }

  private static func decodeMessage(_ reader: PayloadReader) throws(CodecError) -> RoomEvent {
    let message = try reader.subject(MessageID.self)
    if reader.kind == .messageEdited {
      let body = try reader.message(Hansard_V1_MessageEdited.self) ?? .init()
      return .messageEdited(message, ordinal: body.ordinal, text: body.text)
    }
    if reader.kind == .messageDeleted {
      return .messageDeleted(message, ordinal: try reader.message(Hansard_V1_MessageDeleted.self)?.ordinal ?? 0)
    }
    let body = try reader.message(Hansard_V1_ReadMarkerMoved.self) ?? .init()
    return .readMarkerMoved(try reader.actor(), to: message, ordinal: body.ordinal)
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
