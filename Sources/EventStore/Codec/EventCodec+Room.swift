import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension EventCodec {
  /// Nil for an erased fact, which is never written anew. What the facts of messages hold stands in
  /// `EventCodec+Message`.
  static func encode(_ event: RoomEvent) -> EncodedBody? {
    switch event {
    case .created(let creation): EncodedBody(.roomCreated, Hansard_V1_RoomCreated.with(creation))
    case .edited(let edit): encode(edit)
    case .archived: EncodedBody(.roomArchived)
    case .restored: EncodedBody(.roomRestored)
    case .deleted: EncodedBody(.roomDeleted)
    case .inviteCreated(let invite):
      EncodedBody(.inviteCreated, subject: invite.id.uuid, Hansard_V1_InviteCreated.with(invite))
    case .inviteRevoked(let invite): EncodedBody(.inviteRevoked, subject: invite.uuid)
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
    case .memberLeft(let user): EncodedBody(.memberLeft, subject: user.uuid)
    case .memberRemoved(let user): EncodedBody(.memberRemoved, subject: user.uuid)
    case .admissionRepeated(let user, let admission):
      EncodedBody(.admissionRepeated, subject: user.uuid, Hansard_V1_AdmissionRepeated.with(admission))
    case .roleChanged(let user, let role):
      EncodedBody(
        .roleChanged, subject: user.uuid, Hansard_V1_RoleChanged.with { $0.role = UInt32(role.rawValue) })
    case .memberBanned(let user): EncodedBody(.memberBanned, subject: user.uuid)
    case .memberUnbanned(let user): EncodedBody(.memberUnbanned, subject: user.uuid)
    case .memberSilenced(let user, let until):
      EncodedBody(
        .memberSilenced, subject: user.uuid,
        Hansard_V1_MemberSilenced.with { if let until { $0.untilMs = until.milliseconds } })
    case .muted(let user, let until):
      EncodedBody(
        .roomMuted, subject: user.uuid,
        Hansard_V1_RoomMuted.with { if let until { $0.untilMs = until.milliseconds } })
    case .messageSent, .messageEdited, .messageDeleted, .reactionAdded, .reactionRemoved, .messagePinned,
      .messageUnpinned, .readMarkerMoved, .threadMarkerMoved, .markedUnread, .threadFollowingSet, .messageScheduled,
      .scheduledMessageChanged, .scheduledMessageCancelled, .scheduledMessageFailed:
      encode(message: event)
    case .erased: nil
    }
  }

  /// An edit of the name alone is written as it was before there were other parts.
  private static func encode(_ edit: RoomEdit) -> EncodedBody {
    if let name = edit.name, edit.topic == nil, edit.picture == nil {
      return EncodedBody(.roomRenamed, Hansard_V1_RoomRenamed.with { $0.name = name })
    }
    return EncodedBody(
      .roomEdited,
      Hansard_V1_RoomEdited.with {
        if let name = edit.name { $0.name = name }
        if let topic = edit.topic { $0.topic = topic }
        if let picture = edit.picture { $0.picture = picture.encoded }
      })
  }

  /// What the envelope alone tells is read also when the payload was erased: erasing undoes no removal, and a message
  /// keeps its place in the room without its text.
  static func decode(_ kind: RoomEventKind, _ reader: PayloadReader) throws(CodecError) -> RoomEvent {
    switch kind {
    case .roomArchived: return .archived
    case .roomRestored: return .restored
    case .roomDeleted: return .deleted
    case .inviteRevoked: return .inviteRevoked(try reader.subject(InviteID.self))
    case .memberLeft: return .memberLeft(try reader.subject(UserID.self))
    case .memberRemoved: return .memberRemoved(try reader.subject(UserID.self))
    case .memberBanned: return .memberBanned(try reader.subject(UserID.self))
    case .memberUnbanned: return .memberUnbanned(try reader.subject(UserID.self))
    case .roomCreated:
      guard let body = try reader.message(Hansard_V1_RoomCreated.self) else { break }
      return .created(try decodeCreation(body, reader))
    case .roomRenamed:
      guard let body = try reader.message(Hansard_V1_RoomRenamed.self) else { break }
      return .edited(RoomEdit(name: body.name))
    case .roomEdited:
      guard let body = try reader.message(Hansard_V1_RoomEdited.self) else { break }
      return .edited(
        RoomEdit(
          name: body.hasName ? body.name : nil, topic: body.hasTopic ? body.topic : nil,
          picture: body.hasPicture ? try reader.picture(body.picture) : nil))
    case .inviteCreated:
      guard let body = try reader.message(Hansard_V1_InviteCreated.self) else { break }
      return .inviteCreated(try decodeInvite(body, reader))
    case .memberJoined:
      guard let body = try reader.message(Hansard_V1_MemberJoined.self) else { break }
      let (role, invite) = (try reader.value(body.role, Role.self), try reader.id(body.inviteID) as InviteID?)
      return .memberJoined(try reader.subject(UserID.self), role: role, invite: invite)
    case .memberAdded:
      guard let body = try reader.message(Hansard_V1_MemberAdded.self) else { break }
      return .memberAdded(try reader.subject(UserID.self), role: try reader.value(body.role, Role.self))
    case .admissionRepeated:
      guard let body = try reader.message(Hansard_V1_AdmissionRepeated.self) else { break }
      return .admissionRepeated(try reader.subject(UserID.self), try decodeAdmission(body, reader))
    case .roleChanged:
      guard let body = try reader.message(Hansard_V1_RoleChanged.self) else { break }
      return .roleChanged(try reader.subject(UserID.self), try reader.value(body.role, Role.self))
    case .memberSilenced:
      guard let body = try reader.message(Hansard_V1_MemberSilenced.self) else { break }
      let until = body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil
      return .memberSilenced(try reader.subject(UserID.self), until: until)
    case .roomMuted:
      guard let body = try reader.message(Hansard_V1_RoomMuted.self) else { break }
      let until = body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil
      return .muted(try reader.subject(UserID.self), until: until)
    case .messageSent, .messageEdited, .messageDeleted, .reactionAdded, .reactionRemoved, .messagePinned,
      .messageUnpinned, .threadMessageSent, .readMarkerMoved, .markedUnread, .threadMarkerMoved, .threadFollowingSet,
      .messageScheduled, .scheduledMessageChanged, .scheduledMessageCancelled, .scheduledMessageFailed:
      if let event = try decodeMessage(kind, reader) { return event }
    }
    return .erased(kind: reader.kind.rawValue)
  }

  private static func decodeCreation(
    _ body: Hansard_V1_RoomCreated, _ reader: PayloadReader
  ) throws(CodecError) -> RoomCreation {
    RoomCreation(
      kind: try reader.value(body.kind, RoomKind.self), name: body.name, creator: reader.actorIfAny,
      workspace: try reader.id(body.workspaceID), isPublic: body.isPublic, topic: body.hasTopic ? body.topic : nil,
      participants: try reader.ids(body.participants))
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
    if let invite = try reader.id(body.inviteID) as InviteID? { return .invite(invite) }
    return body.byMember ? .member : .service
  }
}

extension PictureEdit {
  /// Sixteen bytes, or none for no picture.
  var encoded: Data {
    switch self {
    case .set(let media): Data(media.uuid.bytes)
    case .remove: Data()
    }
  }
}

extension PayloadReader {
  func picture(_ bytes: Data) throws(CodecError) -> PictureEdit {
    guard let media = try id(bytes) as MediaID? else { return .remove }
    return .set(media)
  }
}

extension Hansard_V1_RoomCreated {
  fileprivate static func with(_ creation: RoomCreation) -> Self {
    .with {
      $0.kind = UInt32(creation.kind.rawValue)
      $0.name = creation.name
      if let workspace = creation.workspace { $0.workspaceID = Data(workspace.uuid.bytes) }
      $0.isPublic = creation.isPublic
      if let topic = creation.topic { $0.topic = topic }
      $0.participants = creation.participants.map { Data($0.uuid.bytes) }
    }
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
