package import ChatPrimitives

extension RoomCommand {
  /// The reaction that the command is about, and what it knows of the message's reactions.
  package var reaction: (message: MessageID, emoji: String, counts: ReactionCounts?)? {
    switch self {
    case .react(let id, let emoji, _, let counts), .unreact(let id, let emoji, _, let counts): (id, emoji, counts)
    case .create, .edit, .archive, .restore, .delete, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember,
      .removeMember, .leave, .changeRole, .transfer, .ban, .unban, .silence, .mute, .sendMessage, .editMessage,
      .deleteMessage, .moveReadMarker, .markUnread, .moveThreadMarker, .setThreadFollowing, .pin, .unpin,
      .scheduleMessage, .changeScheduledMessage, .cancelScheduledMessage, .sendScheduledMessage:
      nil
    }
  }

  /// The command with what is known of the message's reactions.
  package func withReactions(_ counts: ReactionCounts?) -> RoomCommand {
    switch self {
    case .react(let id, let emoji, let target, _): .react(id, emoji, target: target, counts: counts)
    case .unreact(let id, let emoji, let target, _): .unreact(id, emoji, target: target, counts: counts)
    case .create, .edit, .archive, .restore, .delete, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember,
      .removeMember, .leave, .changeRole, .transfer, .ban, .unban, .silence, .mute, .sendMessage, .editMessage,
      .deleteMessage, .moveReadMarker, .markUnread, .moveThreadMarker, .setThreadFollowing, .pin, .unpin,
      .scheduleMessage, .changeScheduledMessage, .cancelScheduledMessage, .sendScheduledMessage:
      self
    }
  }
}
