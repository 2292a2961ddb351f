package import ChatPrimitives

/// What a decision needs to know besides the state in memory. `ChatService` looks it up by the keys of `Lookup`, and
/// the writer replaces what has changed since. Files are the exception: they are looked up and held before.
package struct Known: Sendable, Equatable {
  /// Each dictionary lacks the keys of what does not exist.
  package var messages: [MessageKey: KnownMessage] = [:]
  package var scheduled: [MessageKey: KnownScheduledMessage] = [:]
  package var reactions: [ReactionKey: ReactionCounts] = [:]
  package var commands: [CommandKey: KnownCommand] = [:]
  package var endings: [EndingKey: Ending] = [:]
  package var reports: [ReportKey: KnownReport] = [:]
  /// The content of reported messages at the time of the lookup, without deleted messages.
  package var contents: [MessageKey: MessageContent] = [:]
  /// The files that the message attaches. Empty if the author may not use one of them.
  package var media: [MediaID: Media] = [:]

  package init() {}
}

/// The keys of what is looked up before a command is decided.
package struct Lookup: Sendable, Equatable {
  /// The message that the command is about comes first.
  package var messages: [MessageKey] = []
  /// Message IDs for which it matters whether a message was ever scheduled under them.
  package var scheduled: [MessageKey] = []
  package var reaction: ReactionKey?
  /// The key under which the command may have been done before; nil if its retry is recognised without a key.
  package var command: CommandKey?
  package var ending: EndingKey?
  package var report: ReportKey?
  /// The message whose content the command records. It is also in `messages`.
  package var content: MessageKey?

  package init(ending: EndingKey? = nil) {
    self.ending = ending
  }

  /// The keys that are looked up in other read models. Used if the ID index is known to have none of the other keys:
  /// then the message does not exist, and its content need not be read.
  package var withoutIDs: Lookup {
    var lookup = Lookup(ending: ending)
    lookup.report = report
    return lookup
  }

  /// Whether the ID index has to be read. Endings, reports and contents are in other read models.
  package var asksForIDs: Bool { !messages.isEmpty || !scheduled.isEmpty || reaction != nil || command != nil }
}

/// Identifies a message.
package struct MessageKey: Sendable, Hashable {
  package var room: RoomID
  package var message: MessageID

  package init(room: RoomID, message: MessageID) {
    self.room = room
    self.message = message
  }
}

/// Identifies a report.
package struct ReportKey: Sendable, Hashable {
  package var room: RoomID
  package var report: ReportID

  package init(room: RoomID, report: ReportID) {
    self.room = room
    self.report = report
  }
}

/// Identifies a user's reaction of one kind to a message.
package struct ReactionKey: Sendable, Hashable {
  package var message: MessageKey
  package var user: UserID
  /// UTF-8 bytes, because Swift compares some texts as equal whose bytes in the log differ.
  package var emoji: [UInt8]

  package init(message: MessageKey, user: UserID, emoji: String) {
    self.message = message
    self.user = user
    self.emoji = Array(emoji.utf8)
  }
}

/// Identifies a command: an idempotency key is unique within its actor.
package struct CommandKey: Sendable, Hashable {
  /// The user in whose name it was done, or the service that acted for itself.
  package var actor: UUIDBytes
  package var command: CommandID

  package init(actor: UUIDBytes, command: CommandID) {
    self.actor = actor
    self.command = command
  }

  /// The key under which an event was recorded; nil if it has no key, or if it has neither a user nor a service.
  package init?(_ recorded: RecordedEvent) {
    guard let command = recorded.command, let actor = recorded.actor?.uuid ?? recorded.service?.uuid else { return nil }
    self.init(actor: actor, command: command)
  }

  /// Nil if the request has no key, or if it has neither a user nor a service.
  package init?(of context: CommandContext) {
    guard let command = context.command, let actor = context.actor?.uuid ?? context.service?.uuid else { return nil }
    self.init(actor: actor, command: command)
  }
}

/// What is known of a command that the same actor sent before under the same key.
package struct KnownCommand: Hashable, Sendable {
  package var stamp: Stamp
  /// The fingerprint of the first event that it recorded: `ChatEvent.commandFingerprint`. Nil if that event was erased.
  package var fingerprint: Fingerprint?

  package init(stamp: Stamp, fingerprint: Fingerprint?) {
    self.stamp = stamp
    self.fingerprint = fingerprint
  }

  /// The stamp of the first time, for a command that arrives under the same key.
  /// - Parameter fingerprint: the command's, scoped to its stream.
  /// - Throws: `idempotencyKeyReused` if the fingerprints differ, or if the first one was erased.
  package func stamp(for fingerprint: Fingerprint) throws(Rejection) -> Stamp {
    guard self.fingerprint == fingerprint else { throw .idempotencyKeyReused }
    return stamp
  }
}
