package import ChatPrimitives

extension Fingerprint {
  /// Of a message as it is sent. The time is not a part of it: a retry comes later.
  package static func message(text: String, author: UserID) -> Fingerprint {
    Fingerprint(.text("message.send"), .id(author.uuid), .text(text))
  }
}

extension RoomCommand {
  /// What the command says. Equal to the fingerprint of the first fact that it records.
  ///
  /// The room is not a part of it: `Fingerprint.scoped(to:)` binds a key to one room.
  package var fingerprint: Fingerprint {
    switch self {
    case .create(let creation): creation.fingerprint
    case .rename(let name): .renaming(name)
    case .archive: .archiving
    case .createInvite(let invite): invite.fingerprint
    case .revokeInvite(let id): .inviteRevocation(id)
    case .acceptInvite(let id): .joining(by: id)
    case .join: .joining(by: nil)
    case .addMember(let user): .memberAddition(user)
    case .removeMember(let user): .memberRemoval(user)
    case .leave: .leaving
    case .mute(let until): .muting(until: until)
    case .sendMessage(_, _, let fingerprint, _): fingerprint
    case .editMessage(let id, let text, _): .messageEdit(id, text)
    case .deleteMessage(let id, _): .messageDeletion(id)
    case .moveReadMarker(let id, _): .markerMove(to: id)
    }
  }
}

extension RoomEvent {
  /// What the command said that recorded this as its first fact; nil when the payload was erased.
  ///
  /// Who joined, left, muted or read is not a part of it: idempotency keys are looked up within one actor.
  package var fingerprint: Fingerprint? {
    switch self {
    case .created(let creation): creation.fingerprint
    case .renamed(let name): .renaming(name)
    case .archived: .archiving
    case .inviteCreated(let invite): invite.fingerprint
    case .inviteRevoked(let id): .inviteRevocation(id)
    case .memberJoined(_, _, let invite): .joining(by: invite)
    case .memberAdded(let user, _): .memberAddition(user)
    case .admissionRepeated(_, .invite(let id)): .joining(by: id)
    case .admissionRepeated(_, .service): .joining(by: nil)
    case .admissionRepeated(let user, .member): .memberAddition(user)
    case .memberLeft: .leaving
    case .memberRemoved(let user): .memberRemoval(user)
    case .muted(_, let until): .muting(until: until)
    case .messageSent(_, let author, let text): text.map { .message(text: $0, author: author) }
    case .messageEdited(let id, _, let text): text.map { .messageEdit(id, $0) }
    case .messageDeleted(let id, _): .messageDeletion(id)
    case .readMarkerMoved(_, let message, _): .markerMove(to: message)
    case .erased: nil
    }
  }
}

extension Fingerprint {
  fileprivate static func renaming(_ name: String) -> Fingerprint {
    Fingerprint(.text("room.rename"), .text(name))
  }

  fileprivate static var archiving: Fingerprint { Fingerprint(.text("room.archive")) }

  fileprivate static func inviteRevocation(_ id: InviteID) -> Fingerprint {
    Fingerprint(.text("invite.revoke"), .id(id.uuid))
  }

  fileprivate static func joining(by invite: InviteID?) -> Fingerprint {
    Fingerprint(.text("member.join"), .id(invite?.uuid))
  }

  fileprivate static func memberAddition(_ user: UserID) -> Fingerprint {
    Fingerprint(.text("member.add"), .id(user.uuid))
  }

  fileprivate static func memberRemoval(_ user: UserID) -> Fingerprint {
    Fingerprint(.text("member.remove"), .id(user.uuid))
  }

  fileprivate static var leaving: Fingerprint { Fingerprint(.text("member.leave")) }

  fileprivate static func muting(until: Timestamp?) -> Fingerprint {
    Fingerprint(.text("room.mute"), .number(until?.milliseconds))
  }

  fileprivate static func messageEdit(_ id: MessageID, _ text: String) -> Fingerprint {
    Fingerprint(.text("message.edit"), .id(id.uuid), .text(text))
  }

  fileprivate static func messageDeletion(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.delete"), .id(id.uuid))
  }

  fileprivate static func markerMove(to id: MessageID) -> Fingerprint {
    Fingerprint(.text("marker.move"), .id(id.uuid))
  }
}
