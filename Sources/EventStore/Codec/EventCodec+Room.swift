import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension EventCodec {
  /// Nil for an erased fact, which is never written anew. What the facts of messages hold stands in
  /// `EventCodec+Message`.
  static func encode(_ event: RoomEvent) -> EncodedBody? {
    switch event {
    case .lifecycle(.created(let creation)): EncodedBody(.roomCreated, Hansard_V1_RoomCreated.with(creation))
    case .lifecycle(.edited(let edit)): encode(edit)
    case .lifecycle(.archived): EncodedBody(.roomArchived)
    case .lifecycle(.restored): EncodedBody(.roomRestored)
    case .lifecycle(.deleted): EncodedBody(.roomDeleted)
    case .sharing(.inviteCreated(let invite)):
      EncodedBody(.inviteCreated, subject: invite.id.uuid, Hansard_V1_InviteCreated.with(invite))
    case .sharing(.inviteRevoked(let invite)): EncodedBody(.inviteRevoked, subject: invite.uuid)
    case .members(.joined(let user, let role, let invite)):
      EncodedBody(
        .memberJoined, subject: user.uuid,
        Hansard_V1_MemberJoined.with {
          $0.role = UInt32(role.rawValue)
          if let invite { $0.inviteID = Data(invite.uuid.bytes) }
        })
    case .members(.added(let user, let role)):
      EncodedBody(
        .memberAdded, subject: user.uuid, Hansard_V1_MemberAdded.with { $0.role = UInt32(role.rawValue) })
    case .members(.left(let user)): EncodedBody(.memberLeft, subject: user.uuid)
    case .members(.removed(let user)): EncodedBody(.memberRemoved, subject: user.uuid)
    case .members(.admissionRepeated(let user, let admission)):
      EncodedBody(.admissionRepeated, subject: user.uuid, Hansard_V1_AdmissionRepeated.with(admission))
    case .members(.roleChanged(let user, let role)):
      EncodedBody(
        .roleChanged, subject: user.uuid, Hansard_V1_RoleChanged.with { $0.role = UInt32(role.rawValue) })
    case .members(.banned(let user)): EncodedBody(.memberBanned, subject: user.uuid)
    case .members(.unbanned(let user)): EncodedBody(.memberUnbanned, subject: user.uuid)
    case .members(.silenced(let user, let until)):
      EncodedBody(
        .memberSilenced, subject: user.uuid,
        Hansard_V1_MemberSilenced.with { if let until { $0.untilMs = until.milliseconds } })
    case .members(.muted(let user, let until)):
      EncodedBody(
        .roomMuted, subject: user.uuid,
        Hansard_V1_RoomMuted.with { if let until { $0.untilMs = until.milliseconds } })
    case .messages, .annotations, .reading, .threads, .scheduling:
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
    case .roomArchived: return .lifecycle(.archived)
    case .roomRestored: return .lifecycle(.restored)
    case .roomDeleted: return .lifecycle(.deleted)
    case .inviteRevoked: return .sharing(.inviteRevoked(try reader.subject(InviteID.self)))
    case .memberLeft: return .members(.left(try reader.subject(UserID.self)))
    case .memberRemoved: return .members(.removed(try reader.subject(UserID.self)))
    case .memberBanned: return .members(.banned(try reader.subject(UserID.self)))
    case .memberUnbanned: return .members(.unbanned(try reader.subject(UserID.self)))
    case .roomCreated:
      guard let body = try reader.message(Hansard_V1_RoomCreated.self) else { break }
      return .lifecycle(.created(try decodeCreation(body, reader)))
    case .roomRenamed:
      guard let body = try reader.message(Hansard_V1_RoomRenamed.self) else { break }
      return .lifecycle(.edited(RoomEdit(name: body.name)))
    case .roomEdited:
      guard let body = try reader.message(Hansard_V1_RoomEdited.self) else { break }
      return .lifecycle(
        .edited(
          RoomEdit(
            name: body.hasName ? body.name : nil, topic: body.hasTopic ? body.topic : nil,
            picture: body.hasPicture ? try reader.picture(body.picture) : nil)))
    case .inviteCreated:
      guard let body = try reader.message(Hansard_V1_InviteCreated.self) else { break }
      return .sharing(.inviteCreated(try decodeInvite(body, reader)))
    case .memberJoined:
      guard let body = try reader.message(Hansard_V1_MemberJoined.self) else { break }
      let (role, invite) = (try reader.value(body.role, Role.self), try reader.id(body.inviteID) as InviteID?)
      return .members(.joined(try reader.subject(UserID.self), role: role, invite: invite))
    case .memberAdded:
      guard let body = try reader.message(Hansard_V1_MemberAdded.self) else { break }
      return .members(.added(try reader.subject(UserID.self), role: try reader.value(body.role, Role.self)))
    case .admissionRepeated:
      guard let body = try reader.message(Hansard_V1_AdmissionRepeated.self) else { break }
      return .members(.admissionRepeated(try reader.subject(UserID.self), try decodeAdmission(body, reader)))
    case .roleChanged:
      guard let body = try reader.message(Hansard_V1_RoleChanged.self) else { break }
      return .members(.roleChanged(try reader.subject(UserID.self), try reader.value(body.role, Role.self)))
    case .memberSilenced:
      guard let body = try reader.message(Hansard_V1_MemberSilenced.self) else { break }
      let until = body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil
      return .members(.silenced(try reader.subject(UserID.self), until: until))
    case .roomMuted:
      guard let body = try reader.message(Hansard_V1_RoomMuted.self) else { break }
      let until = body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil
      return .members(.muted(try reader.subject(UserID.self), until: until))
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
