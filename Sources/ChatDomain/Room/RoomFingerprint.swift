package import ChatPrimitives

extension Fingerprint {
  /// Of a message as it is sent. The time is not a part of it: a retry comes later.
  /// - Parameter thread: the root of the thread that it goes into; nil for the room's own timeline.
  package static func message(
    _ content: MessageContent, author: UserID, thread: MessageID? = nil
  ) -> Fingerprint {
    let plain: [Field] = [.text("message.send"), .id(author.uuid), .text(content.text)]
    guard content.details != nil || thread != nil else { return Fingerprint(plain) }
    return Fingerprint(plain + [.id(thread?.uuid)] + fields(of: content.details ?? MessageDetails()))
  }

  /// What an uploaded file is known by stands for what is known of it.
  private static func fields(of details: MessageDetails) -> [Field] {
    [
      .id(details.replyTo?.uuid), .text(details.custom?.type), .text(details.custom?.body),
      .number(Int64(details.attachments.count)),
    ] + details.attachments.flatMap { [.id($0.media.uuid), .text($0.name)] } + fields(of: details.mentions)
  }

  fileprivate static func fields(of mentions: Mentions) -> [Field] {
    [.number(mentions.everyone ? 1 : 0)] + mentions.users.map { .id($0.uuid) }
  }
}

extension RoomCommand {
  /// What the command says. Equal to the fingerprint of the first fact that it records.
  ///
  /// The room is not a part of it: `Fingerprint.scoped(to:)` binds a key to one room.
  package var fingerprint: Fingerprint {
    switch self {
    case .create(let creation): creation.fingerprint
    case .edit(let edit): .edit(edit)
    case .archive: .archiving
    case .restore: .restoring
    case .delete: .deleting
    case .changeRole(let user, let role): .roleChange(user, role)
    case .transfer(let user): .roleChange(user, .owner)
    case .ban(let user): .ban(user)
    case .unban(let user): .unban(user)
    case .silence(let user, let until): .silencing(user, until: until)
    case .createInvite(let invite): invite.fingerprint
    case .revokeInvite(let id): .inviteRevocation(id)
    case .acceptInvite(let id): .joining(by: id)
    case .join: .joining(by: nil)
    case .addMember(let user): .memberAddition(user)
    case .removeMember(let user): .memberRemoval(user)
    case .leave: .leaving
    case .mute(let until): .muting(until: until)
    case .sendMessage(_, _, let fingerprint, _, _): fingerprint
    case .editMessage(let id, let edit, _): .messageEdit(id, edit)
    case .deleteMessage(let id, _): .messageDeletion(id)
    case .moveReadMarker(let id, _): .markerMove(to: id)
    case .markUnread(let id, _): .markingUnread(from: id)
    case .scheduleMessage(_, let message, _, _, _): .scheduling(message)
    case .changeScheduledMessage(let id, let edit, _): .schedulingChange(id, edit)
    case .cancelScheduledMessage(let id, _): .schedulingCancellation(id)
    case .sendScheduledMessage(let id, _, _, _): .scheduledSending(id)
    case .moveThreadMarker(let id, _, _, _): .threadMarkerMove(to: id)
    case .setThreadFollowing(let root, let follows, _): .following(root, follows)
    case .react(let id, let emoji, _, _): .reaction(id, emoji, isAdded: true)
    case .unreact(let id, let emoji, _, _): .reaction(id, emoji, isAdded: false)
    case .pin(let id, _): .pin(id, isPinned: true)
    case .unpin(let id, _): .pin(id, isPinned: false)
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
    case .edited(let edit): .edit(edit)
    case .archived: .archiving
    case .restored: .restoring
    case .deleted: .deleting
    case .inviteCreated(let invite): invite.fingerprint
    case .inviteRevoked(let id): .inviteRevocation(id)
    case .memberJoined(_, _, let invite): .joining(by: invite)
    case .memberAdded(let user, _): .memberAddition(user)
    case .admissionRepeated(_, .invite(let id)): .joining(by: id)
    case .admissionRepeated(_, .service): .joining(by: nil)
    case .admissionRepeated(let user, .member): .memberAddition(user)
    case .memberLeft: .leaving
    case .memberRemoved(let user): .memberRemoval(user)
    case .roleChanged(let user, let role): .roleChange(user, role)
    case .memberBanned(let user): .ban(user)
    case .memberUnbanned(let user): .unban(user)
    case .memberSilenced(let user, let until): .silencing(user, until: until)
    case .muted(_, let until): .muting(until: until)
    case .messageSent(_, let author, let thread, let content):
      content.map { .message($0, author: author, thread: thread?.root.message) }
    case .messageEdited(let id, _, let edit): edit.map { .messageEdit(id, $0) }
    case .messageDeleted(let id, _): .messageDeletion(id)
    case .reactionAdded(let id, _, _, let emoji): .reaction(id, emoji, isAdded: true)
    case .reactionRemoved(let id, _, _, let emoji): .reaction(id, emoji, isAdded: false)
    case .messagePinned(let id, _): .pin(id, isPinned: true)
    case .messageUnpinned(let id, _): .pin(id, isPinned: false)
    case .readMarkerMoved(_, let message, _): .markerMove(to: message)
    case .threadMarkerMoved(_, let message, _): .threadMarkerMove(to: message)
    case .markedUnread(_, let message, _): .markingUnread(from: message)
    case .threadFollowingSet(_, let root, let follows): .following(root.message, follows)
    case .messageScheduled(_, let message): .scheduling(message)
    case .scheduledMessageChanged(let id, let edit): .schedulingChange(id, edit)
    case .scheduledMessageCancelled(let id): .schedulingCancellation(id)
    case .scheduledMessageFailed(let id, _): .schedulingFailure(id)
    case .erased: nil
    }
  }
}

extension Fingerprint {
  /// A mere renaming is told as it always was.
  static func edit(_ edit: RoomEdit) -> Fingerprint {
    if let name = edit.name, edit.topic == nil, edit.picture == nil {
      return Fingerprint(.text("room.rename"), .text(name))
    }
    return Fingerprint([.text("room.edit"), .text(edit.name), .text(edit.topic)] + fields(of: edit.picture))
  }

  static func fields(of picture: PictureEdit?) -> [Field] {
    switch picture {
    case nil: [.number(0)]
    case .remove: [.number(1)]
    case .set(let media): [.number(2), .id(media.uuid)]
    }
  }

  static var restoring: Fingerprint { Fingerprint(.text("room.restore")) }
  static var deleting: Fingerprint { Fingerprint(.text("room.delete")) }

  static func roleChange(_ user: UserID, _ role: Role) -> Fingerprint {
    Fingerprint(.text("member.role"), .id(user.uuid), .number(Int64(role.rawValue)))
  }

  static func ban(_ user: UserID) -> Fingerprint { Fingerprint(.text("member.ban"), .id(user.uuid)) }
  static func unban(_ user: UserID) -> Fingerprint { Fingerprint(.text("member.unban"), .id(user.uuid)) }

  static func silencing(_ user: UserID, until: Timestamp?) -> Fingerprint {
    Fingerprint(.text("member.silence"), .id(user.uuid), .number(until?.milliseconds))
  }

  static func reaction(_ message: MessageID, _ emoji: String, isAdded: Bool) -> Fingerprint {
    Fingerprint(.text(isAdded ? "reaction.add" : "reaction.remove"), .id(message.uuid), .text(emoji))
  }

  static func pin(_ message: MessageID, isPinned: Bool) -> Fingerprint {
    Fingerprint(.text(isPinned ? "message.pin" : "message.unpin"), .id(message.uuid))
  }

  static func threadMarkerMove(to message: MessageID) -> Fingerprint {
    Fingerprint(.text("thread-marker.move"), .id(message.uuid))
  }

  static func markingUnread(from message: MessageID) -> Fingerprint {
    Fingerprint(.text("marker.unread"), .id(message.uuid))
  }

  static func following(_ root: MessageID, _ follows: Bool) -> Fingerprint {
    Fingerprint(.text("thread.follow"), .id(root.uuid), .number(follows ? 1 : 0))
  }

  /// Of a message as it is scheduled, its time included.
  package static func scheduling(_ message: ScheduledMessage) -> Fingerprint {
    Fingerprint(
      .text("message.schedule"), .number(message.sendAt.milliseconds),
      .id(Fingerprint.message(message.content, author: message.author, thread: message.thread).bytes))
  }

  static func schedulingChange(_ id: MessageID, _ edit: ScheduledMessageEdit) -> Fingerprint {
    Fingerprint(
      [.text("message.reschedule"), .id(id.uuid), .number(edit.sendAt?.milliseconds), .text(edit.text)]
        + (edit.mentions.map { fields(of: $0) } ?? []))
  }

  /// Only the server asks for it, and under no key: what keeps it from being done twice is that it waits no more.
  static func scheduledSending(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.send-scheduled"), .id(id.uuid))
  }

  static func schedulingCancellation(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.unschedule"), .id(id.uuid))
  }

  static func schedulingFailure(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.schedule-failed"), .id(id.uuid))
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

  fileprivate static func messageEdit(_ id: MessageID, _ edit: MessageEdit) -> Fingerprint {
    let plain: [Field] = [.text("message.edit"), .id(id.uuid), .text(edit.text)]
    return Fingerprint(edit.mentions.isEmpty ? plain : plain + fields(of: edit.mentions))
  }

  fileprivate static func messageDeletion(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.delete"), .id(id.uuid))
  }

  fileprivate static func markerMove(to id: MessageID) -> Fingerprint {
    Fingerprint(.text("marker.move"), .id(id.uuid))
  }
}
