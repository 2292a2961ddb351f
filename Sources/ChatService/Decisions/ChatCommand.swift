package import ChatDomain
package import ChatPrimitives

/// One command on its way to the writer, with what was looked up for it.
package struct ChatCommand: Sendable {
  package var context: CommandContext
  package let operation: Operation
  /// Made here and not by the writer, which need not hash so. Nil where the writer alone can tell what is meant.
  let fingerprint: Fingerprint?
  /// The keys of what the decision needs to know.
  package let lookup: Lookup
  /// What was looked up by these keys, and perhaps by those of other commands.
  package var known: Known
  /// What was looked up is true as of here. The writer itself knows what is newer.
  package var knownAsOf: LogPosition
  /// The sequence of commands that it belongs to, if any.
  package var order: CommandOrder?

  package init(
    context: CommandContext, operation: Operation, known: Known = Known(), knownAsOf: LogPosition = .latest
  ) {
    self.context = context
    self.operation = operation
    fingerprint = operation.fingerprint(by: context.actor)
    lookup = operation.lookup(by: context)
    self.known = known
    self.knownAsOf = knownAsOf
  }

  package enum Operation: Sendable {
    case user(UserID, UserCommand)
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

extension ChatCommand.Operation {
  fileprivate func fingerprint(by actor: UserID?) -> Fingerprint? {
    switch self {
    case .user(_, let command): command.fingerprint(by: actor)
    case .room(_, let command): command.fingerprint(by: actor)
    case .workspace(_, let command): command.fingerprint(by: actor)
    case .roomInvite, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey: nil
    }
  }

  fileprivate func lookup(by context: CommandContext) -> Lookup {
    switch self {
    case .user(let user, let command): return command.lookup(on: user, by: context)
    case .room(let room, let command): return command.lookup(on: room, by: context)
    case .workspace(let workspace, let command): return command.lookup(on: workspace, by: context)
    case .roomInvite, .workspaceInvite, .server: return Lookup()
    case .acceptInvite, .rotateSigningKey:
      var lookup = Lookup()
      lookup.command = CommandKey(of: context)
      return lookup
    }
  }
}

extension LogPosition {
  /// Of what need not be looked up, and so never grows old.
  package static let latest = LogPosition(.max)
}

/// What the writer answers.
package enum ChatReply: Sendable {
  case done(ChatOutcome)
  case rejected(Rejection)
  /// What was looked up is older than what the writer remembers; look again.
  case outdated
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
