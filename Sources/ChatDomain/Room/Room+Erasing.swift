package import ChatPrimitives

extension RoomCommand {
  /// What the server does in a room after an account was deleted. The events are ordinary ones, so every read model, live
  /// stream and notification treats them like a user's own acts. They have no actor.
  package enum Erasing: Sendable, Equatable {
    /// Deletes a message of a deleted user.
    /// - after: where the account was deleted. A deletion from before that is recorded again, so that the read models
    ///   also forget what they keep of a deleted message to recognise a retry.
    case message(MessageID, of: UserID, after: LogPosition)
    /// Removes all reactions of a deleted user to a message.
    /// - emoji: one of them. If the user no longer has it, nothing is recorded. Nil if the user took one back: then it is
    ///   recorded in any case, because a read model that is built later does not see that reaction, but must say that the
    ///   message changed.
    case reactions(MessageID, emoji: String?, of: UserID)
  }
}

extension RoomCommand.Erasing: AggregateCommand {
  package typealias Entity = RoomCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .message(let id, _, _): .messageDeletion(id)
    case .reactions(let id, _, _): .reaction(id, "", isAdded: false)
    }
  }

  /// What is done already records nothing.
  package var isKnownByItself: Bool {
    switch self {
    case .message, .reactions: true
    }
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .message(let id, _, _):
      lookup.messages = [MessageKey(room: room, message: id)]
    case .reactions(let id, let emoji, let user):
      let message = MessageKey(room: room, message: id)
      lookup.messages = [message]
      lookup.reaction = emoji.map { ReactionKey(message: message, user: user, emoji: $0) }
    }
  }
}

// MARK: - Decide

extension RoomDecider {
  func decide(
    _ command: RoomCommand.Erasing, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard context.isByService, context.actor == nil else { throw .serviceOnly }
    _ = try room()
    switch command {
    case .message(let id, let user, let deletion): return try eraseMessage(id, of: user, after: deletion, directory)
    case .reactions(let id, let emoji, let user): return try eraseReactions(id, emoji, of: user, directory)
    }
  }

  private func eraseMessage(
    _ id: MessageID, of user: UserID, after deletion: LogPosition, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let target = try message(id)
    guard target.author == user, directory.isDeleted(user) else { throw .forbidden }
    if target.isDeleted, target.revision > deletion {
      return .alreadyDone(Stamp(position: target.revision, time: target.revisedAt ?? target.sent.time))
    }
    return .record([.messages(.deleted(id, at: target.location))])
  }

  private func eraseReactions(
    _ id: MessageID, _ emoji: String?, of user: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let target = try message(id)
    guard directory.isDeleted(user) else { throw .forbidden }
    guard !target.isDeleted else { return .alreadyDone(target.sent) }
    if let emoji {
      let key = ReactionKey(message: messageKey(id), user: user, emoji: emoji)
      guard known.reactions[key]?.isOwn == true else { return .alreadyDone(target.sent) }
    }
    return .record([.annotations(.reactionRemoved(id, at: target.location, by: user, emoji: ""))])
  }
}
