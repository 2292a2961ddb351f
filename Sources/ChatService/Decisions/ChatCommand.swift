package import ChatDomain
package import ChatPrimitives

/// One command on its way to the writer, with what was looked up for it.
package struct ChatCommand: Sendable {
  package var context: CommandContext
  package var operation: Operation
  /// What is known of an earlier command of the same actor under the same key.
  package var prior: KnownCommand?
  /// What is known of a scheduled message under the ID of the message that it is about.
  package var scheduling: KnownScheduledMessage?
  /// How the session, room or workspace ended that it is about; nil when that has not ended, as far as was looked up.
  package var ending: Ending?
  /// Everything that was looked up for this command is true as of here; what is newer the writer knows itself.
  package var factsAsOf: LogPosition
  /// The row of commands that it belongs to, if any.
  package var order: CommandOrder?

  package init(
    context: CommandContext, operation: Operation, prior: KnownCommand? = nil, scheduling: KnownScheduledMessage? = nil,
    ending: Ending? = nil, factsAsOf: LogPosition
  ) {
    self.context = context
    self.operation = operation
    self.prior = prior
    self.scheduling = scheduling
    self.ending = ending
    self.factsAsOf = factsAsOf
  }

  package enum Operation: Sendable {
    case user(UserCommand)
    case room(RoomID, RoomCommand)
    /// Creates an invite whose expiry the client left to the server: a retry has the expiry of the first time.
    case roomInvite(RoomID, Invite)
    case workspace(WorkspaceID, WorkspaceCommand)
    /// As `roomInvite`, into a workspace.
    case workspaceInvite(WorkspaceID, WorkspaceInvite)
    /// Accepts the invite, into a room or a workspace, whose token has this SHA-256.
    case acceptInvite(tokenHash: [UInt8])
    case server(ServerEvent)
    /// Access tokens are signed with a new key from here on.
    case rotateSigningKey
  }
}

/// What the writer answers.
package enum ChatReply: Sendable {
  case done(ChatOutcome)
  case rejected(Rejection)
  /// What was looked up is older than what the writer remembers; look again.
  case staleFacts
}

/// A command that was done, now or before.
package struct ChatOutcome: Sendable {
  /// Of the first event that it recorded.
  package let stamp: Stamp
  /// The events, when they are new; empty for a repeat.
  package let events: [RecordedEvent]
  /// The room that it was about.
  package let room: RoomID?
  /// The workspace that it was about.
  package let workspace: WorkspaceID?
  /// The message that it was about, as it was before the command.
  package let message: KnownMessage?

  package var isNew: Bool { !events.isEmpty }
}
