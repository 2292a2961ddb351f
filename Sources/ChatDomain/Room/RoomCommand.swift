package import ChatPrimitives

/// What a client asks of one room. `CommandContext` says who acts.
package enum RoomCommand: RetriableCommand, Equatable {
  case create(RoomCreation)
  case edit(RoomEdit)
  case archive
  /// Opens an archived room again.
  case restore
  case delete

  case createInvite(Invite)
  case revokeInvite(InviteID)
  /// The actor comes in by an invite.
  case acceptInvite(InviteID)

  /// The actor comes into a public channel, or is brought by a service.
  case join
  /// The actor brings in another user.
  case addMember(UserID)
  case removeMember(UserID)
  case leave
  case changeRole(UserID, Role)
  /// The actor, or a service, gives ownership to this member.
  case transfer(to: UserID)
  case ban(UserID)
  case unban(UserID)
  /// The member may not speak until then; nil lifts it.
  case silence(UserID, until: Timestamp?)
  /// No notifications for the actor until then; nil lifts it.
  case mute(until: Timestamp?)

  /// - fingerprint: `Fingerprint.message(_:author:thread:)`, made by the caller so that the writer need not hash.
  /// - prior: the message that the room already has under this ID.
  /// - references: nil for a message of the room's own timeline that has neither attachments nor a message to answer.
  case sendMessage(
    MessageID, MessageContent, fingerprint: Fingerprint, prior: KnownMessage?, references: MessageReferences? = nil)
  /// - target: the message that is meant; nil when the room has none of this ID. So below, too.
  case editMessage(MessageID, MessageEdit, target: KnownMessage?)
  case deleteMessage(MessageID, target: KnownMessage?)
  /// The actor has read up to this message.
  case moveReadMarker(MessageID, target: KnownMessage?)
  /// The actor wants this message and all after it shown as unread.
  case markUnread(MessageID, target: KnownMessage?)
  /// The actor has read a thread up to this message.
  case moveThreadMarker(MessageID, root: MessageID, target: KnownMessage?, rootFacts: KnownMessage?)
  /// Whether the actor wants to hear of the thread that hangs from the message.
  case setThreadFollowing(MessageID, Bool, target: KnownMessage?)
  /// - counts: what the message has of reactions; nil when it has none. So below, too.
  case react(MessageID, String, target: KnownMessage?, counts: ReactionCounts? = nil)
  case unreact(MessageID, String, target: KnownMessage?, counts: ReactionCounts? = nil)
  case pin(MessageID, target: KnownMessage?)
  case unpin(MessageID, target: KnownMessage?)

  /// - prior: what is known of this ID as a scheduled message. So below, too.
  /// - sent: the message that the room already has under this ID.
  /// - references: as for a message that is sent.
  case scheduleMessage(
    MessageID, ScheduledMessage, prior: KnownScheduledMessage?, sent: KnownMessage?, references: MessageReferences?)
  case changeScheduledMessage(MessageID, ScheduledMessageEdit, prior: KnownScheduledMessage?)
  case cancelScheduledMessage(MessageID, prior: KnownScheduledMessage?)
  /// The server itself sends what is due, in the author's name.
  /// - message: as the scheduler looked it up; `revision` is its revision then.
  case sendScheduledMessage(MessageID, ScheduledMessage, revision: LogPosition, references: MessageReferences?)

  /// Whether a retry is recognised by the ID of what the command creates. Such a command is not to be looked up by an
  /// idempotency key.
  package var isKnownByItself: Bool {
    switch self {
    case .create, .createInvite, .sendMessage, .scheduleMessage: true
    case .edit, .archive, .revokeInvite, .acceptInvite, .join, .addMember, .removeMember, .leave, .mute,
      .editMessage, .deleteMessage, .moveReadMarker, .markUnread, .moveThreadMarker, .setThreadFollowing, .react,
      .unreact, .pin, .unpin, .changeScheduledMessage, .cancelScheduledMessage, .sendScheduledMessage:
      false
    case .restore, .delete, .changeRole, .transfer, .ban, .unban, .silence: false
    }
  }
}
