package import ChatPrimitives

/// What a decision needs to know beside the state in memory. `ChatService` looks it up by the keys of `Lookup`, and the
/// writer replaces what has changed since.
package struct Known: Sendable, Equatable {
  /// Without those that are not there. So below, too.
  package var messages: [MessageKey: KnownMessage] = [:]
  package var scheduled: [MessageKey: KnownScheduledMessage] = [:]
  package var reactions: [ReactionKey: ReactionCounts] = [:]
  package var commands: [CommandKey: KnownCommand] = [:]
  package var endings: [EndingKey: Ending] = [:]
  /// The files that the message attaches. None of them if the author may not use one of them.
  package var media: [MediaID: Media] = [:]

  package init() {}
}

/// The keys of what has to be looked up before a command is decided.
package struct Lookup: Sendable, Equatable {
  package var messages: [MessageKey] = []
  /// Messages of which it matters whether they were ever scheduled.
  package var scheduled: [MessageKey] = []
  package var reaction: ReactionKey?
  /// Under which the command may have been done before; nil for one that is known by itself.
  package var command: CommandKey?
  package var ending: EndingKey?

  package init(ending: EndingKey? = nil) {
    self.ending = ending
  }

  /// Whether the ID index has to be asked, which knows everything but endings.
  package var asksForIDs: Bool { !messages.isEmpty || !scheduled.isEmpty || reaction != nil || command != nil }
}

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

/// What is known of a command that was done before under the same key by the same actor.
package struct KnownCommand: Hashable, Sendable {
  package var stamp: Stamp
  /// Of the first event that it recorded, in its stream: `ChatEvent.commandFingerprint`. Nil when that was erased.
  package var fingerprint: Fingerprint?

  package init(stamp: Stamp, fingerprint: Fingerprint?) {
    self.stamp = stamp
    self.fingerprint = fingerprint
  }

  /// The stamp of the first time, for a command that comes under the same key.
  /// - Parameter fingerprint: of the command, in its stream.
  /// - Throws: `idempotencyKeyReused` when it says something else, or when what the first one said was erased.
  package func stamp(for fingerprint: Fingerprint) throws(Rejection) -> Stamp {
    guard self.fingerprint == fingerprint else { throw .idempotencyKeyReused }
    return stamp
  }
}
