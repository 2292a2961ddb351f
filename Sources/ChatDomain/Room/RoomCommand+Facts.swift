package import ChatPrimitives

extension RoomCommand {
  /// The messages whose facts the command is decided with: the one that it is about comes first.
  package var messages: [MessageID] {
    switch self {
    case .sendMessage(let id, let content, _, _, let references):
      [id] + [references?.thread, content.details?.replyTo].compactMap { $0 }
    case .editMessage(let id, _, _), .deleteMessage(let id, _), .moveReadMarker(let id, _), .markUnread(let id, _),
      .react(let id, _, _, _), .unreact(let id, _, _, _), .pin(let id, _), .unpin(let id, _),
      .setThreadFollowing(let id, _, _), .changeScheduledMessage(let id, _, _), .cancelScheduledMessage(let id, _):
      [id]
    case .scheduleMessage(let id, let message, _, _, _):
      [id] + [message.thread, message.content.details?.replyTo].compactMap { $0 }
    case .sendScheduledMessage(_, let message, _, _):
      [message.thread, message.content.details?.replyTo].compactMap { $0 }
    case .moveThreadMarker(let id, let root, _, _): [id, root]
    case .create, .edit, .archive, .restore, .delete, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember,
      .removeMember, .leave, .changeRole, .transfer, .ban, .unban, .silence, .mute:
      []
    }
  }

  /// The message that the command is about.
  package var message: (id: MessageID, facts: KnownMessage?)? {
    switch self {
    case .sendMessage(let id, _, _, let facts, _), .editMessage(let id, _, let facts),
      .deleteMessage(let id, let facts), .moveReadMarker(let id, let facts), .markUnread(let id, let facts),
      .react(let id, _, let facts, _), .unreact(let id, _, let facts, _),
      .pin(let id, let facts), .unpin(let id, let facts), .setThreadFollowing(let id, _, let facts),
      .moveThreadMarker(let id, _, let facts, _), .scheduleMessage(let id, _, _, let facts, _):
      (id, facts)
    case .create, .edit, .archive, .restore, .delete, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember,
      .removeMember, .leave, .changeRole, .transfer, .ban, .unban, .silence, .mute, .changeScheduledMessage,
      .cancelScheduledMessage, .sendScheduledMessage:
      nil
    }
  }

  /// The command with other facts of its messages.
  /// - Parameter find: from a message's ID and what the command knows of it to what it is to know.
  package func withFacts(_ find: (MessageID, KnownMessage?) -> KnownMessage?) -> RoomCommand {
    switch self {
    case .sendMessage(let id, let content, let fingerprint, let prior, let references):
      return .sendMessage(
        id, content, fingerprint: fingerprint, prior: find(id, prior),
        references: Self.references(references, replyTo: content.details?.replyTo, find))
    case .editMessage(let id, let edit, let target): return .editMessage(id, edit, target: find(id, target))
    case .deleteMessage(let id, let target): return .deleteMessage(id, target: find(id, target))
    case .moveReadMarker(let id, let target): return .moveReadMarker(id, target: find(id, target))
    case .markUnread(let id, let target): return .markUnread(id, target: find(id, target))
    case .scheduleMessage(let id, let message, let prior, let sent, let references):
      return .scheduleMessage(
        id, message, prior: prior, sent: find(id, sent),
        references: Self.references(references, replyTo: message.content.details?.replyTo, find))
    case .sendScheduledMessage(let id, let message, let revision, let references):
      return .sendScheduledMessage(
        id, message, revision: revision,
        references: Self.references(references, replyTo: message.content.details?.replyTo, find))
    case .react(let id, let emoji, let target, let counts):
      return .react(id, emoji, target: find(id, target), counts: counts)
    case .unreact(let id, let emoji, let target, let counts):
      return .unreact(id, emoji, target: find(id, target), counts: counts)
    case .pin(let id, let target): return .pin(id, target: find(id, target))
    case .unpin(let id, let target): return .unpin(id, target: find(id, target))
    case .moveThreadMarker(let id, let root, let target, let rootFacts):
      return .moveThreadMarker(id, root: root, target: find(id, target), rootFacts: find(root, rootFacts))
    case .setThreadFollowing(let root, let follows, let target):
      return .setThreadFollowing(root, follows, target: find(root, target))
    case .create, .edit, .archive, .restore, .delete, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember,
      .removeMember, .leave, .changeRole, .transfer, .ban, .unban, .silence, .mute, .changeScheduledMessage,
      .cancelScheduledMessage:
      return self
    }
  }

  /// The ID of which it matters whether it was given to a scheduled message.
  package var schedulable: MessageID? {
    switch self {
    case .sendMessage(let id, _, _, _, _), .scheduleMessage(let id, _, _, _, _), .changeScheduledMessage(let id, _, _),
      .cancelScheduledMessage(let id, _):
      id
    case .create, .edit, .archive, .restore, .delete, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember,
      .removeMember, .leave, .changeRole, .transfer, .ban, .unban, .silence, .mute, .editMessage, .deleteMessage,
      .moveReadMarker, .markUnread, .moveThreadMarker,
      .setThreadFollowing, .react, .unreact, .pin, .unpin, .sendScheduledMessage:
      nil
    }
  }

  /// The command with what is known of a scheduled message under its ID. Such an ID is taken, even where no message was
  /// ever sent under it.
  package func withScheduling(_ facts: KnownScheduledMessage) -> RoomCommand {
    switch self {
    case .sendMessage(let id, let content, let fingerprint, let prior, let references):
      return .sendMessage(
        id, content, fingerprint: fingerprint, prior: prior ?? facts.reservation, references: references)
    case .scheduleMessage(let id, let message, _, let sent, let references):
      return .scheduleMessage(id, message, prior: facts, sent: sent, references: references)
    case .changeScheduledMessage(let id, let edit, _): return .changeScheduledMessage(id, edit, prior: facts)
    case .cancelScheduledMessage(let id, _): return .cancelScheduledMessage(id, prior: facts)
    case .create, .edit, .archive, .restore, .delete, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember,
      .removeMember, .leave, .changeRole, .transfer, .ban, .unban, .silence, .mute, .editMessage, .deleteMessage,
      .moveReadMarker, .markUnread, .moveThreadMarker,
      .setThreadFollowing, .react, .unreact, .pin, .unpin, .sendScheduledMessage:
      return self
    }
  }

  private static func references(
    _ known: MessageReferences?, replyTo: MessageID?, _ find: (MessageID, KnownMessage?) -> KnownMessage?
  ) -> MessageReferences? {
    guard known?.thread != nil || replyTo != nil else { return known }
    return MessageReferences(
      thread: known?.thread, root: known?.thread.flatMap { find($0, known?.root) },
      answered: replyTo.flatMap { find($0, known?.answered) }, lacksMedia: known?.lacksMedia ?? false)
  }
}
