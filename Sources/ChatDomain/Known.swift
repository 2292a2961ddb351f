package import ChatPrimitives

/// Names a message.
package struct MessageKey: Sendable, Hashable {
  package var room: RoomID
  package var message: MessageID

  package init(room: RoomID, message: MessageID) {
    self.room = room
    self.message = message
  }
}

/// Names a user's reaction of one kind to a message.
package struct ReactionKey: Sendable, Hashable {
  package var message: MessageKey
  package var user: UserID
  /// Bytes of UTF-8: Swift calls texts equal that the log tells apart.
  package var emoji: [UInt8]

  package init(message: MessageKey, user: UserID, emoji: String) {
    self.message = message
    self.user = user
    self.emoji = Array(emoji.utf8)
  }
}

/// Names a command: an idempotency key is unique within its actor.
package struct CommandKey: Sendable, Hashable {
  /// The user in whose name it was done, or the service that acted for itself.
  package var actor: UUIDBytes
  package var command: CommandID

  package init(actor: UUIDBytes, command: CommandID) {
    self.actor = actor
    self.command = command
  }

  /// The key that an event is known by; nil when it carries none, or when nobody is known to have done it.
  package init?(_ recorded: RecordedEvent) {
    guard let command = recorded.command, let actor = recorded.actor?.uuid ?? recorded.service?.uuid else { return nil }
    self.init(actor: actor, command: command)
  }

  /// Nil when the request carries no key, or nobody is known to make it.
  package init?(of context: CommandContext) {
    guard let command = context.command, let actor = context.actor?.uuid ?? context.service?.uuid else { return nil }
    self.init(actor: actor, command: command)
  }
}
