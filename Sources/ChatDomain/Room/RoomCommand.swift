package import ChatPrimitives

/// A wish about one room. Who acts stands in the act.
package enum RoomCommand: RetriableCommand, Equatable {
  case create(RoomCreation)
  case edit(RoomEdit)
  case archive

  case createInvite(Invite)
  case revokeInvite(InviteID)
  /// The actor comes in by an invite.
  case acceptInvite(InviteID)

  /// A service brings in the actor without an invite.
  case join
  /// The actor brings in another user.
  case addMember(UserID)
  case removeMember(UserID)
  case leave
  /// No notices for the actor until then; nil lifts it.
  case mute(until: Timestamp?)

  /// - fingerprint: `Fingerprint.message(_:author:)`, made by the caller so that the writer need not hash.
  /// - prior: the message that the room already has under this ID.
  case sendMessage(MessageID, MessageContent, fingerprint: Fingerprint, prior: MessageFacts?)
  /// - target: the message that is meant; nil when the room has none of this ID. So below, too.
  case editMessage(MessageID, MessageEdit, target: MessageFacts?)
  case deleteMessage(MessageID, target: MessageFacts?)
  /// The actor has read up to this message.
  case moveReadMarker(MessageID, target: MessageFacts?)

  /// Whether a retry is recognised by the ID of what the command creates. Such a command is not to be looked up by an
  /// idempotency key.
  package var isKnownByItself: Bool {
    switch self {
    case .create, .createInvite, .sendMessage: true
    case .edit, .archive, .revokeInvite, .acceptInvite, .join, .addMember, .removeMember, .leave, .mute,
      .editMessage, .deleteMessage, .moveReadMarker:
      false
    }
  }
}
