package import ChatDomain
package import ChatPrimitives

/// A command for the writer, with what was looked up for it.
package struct ChatCommand: Sendable {
  /// The writer sets the time of the decision.
  package internal(set) var context: CommandContext
  package let operation: Operation
  /// Computed here, so that the writer need not hash a message that is sent. Nil if only the writer can tell which
  /// content is meant.
  let fingerprint: Fingerprint?
  /// The keys of what the decision needs to know.
  package let lookup: Lookup
  /// What was looked up by these keys, and possibly by those of other commands.
  package var known: Known
  /// What was looked up is current as of here. The writer knows what is newer.
  package var knownAsOf: LogPosition
  /// The sequence that the command belongs to, if any.
  package var order: CommandOrder?

  package init(context: CommandContext, operation: Operation, known: Known = Known(), knownAsOf: LogPosition) {
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
    /// Creates an invite for which the server sets the expiry. A retry gets the first expiry.
    case roomInvite(RoomID, Invite)
    case workspace(WorkspaceID, WorkspaceCommand)
    /// The same as `roomInvite`, for a workspace.
    case workspaceInvite(WorkspaceID, WorkspaceInvite)
    /// Accepts the invite to a room or a workspace whose token or code has this hash.
    case acceptInvite(hash: [UInt8])
    case server(ServerEvent)
    /// Signs access tokens with a new key from now on.
    case rotateSigningKey
    case legalHold(LegalHolds.Command)
  }
}

extension ChatCommand.Operation {
  /// Whether the command can have a user as its actor whose account was deleted: a retry of the deletion, or of the
  /// registration, whose ID stays in use.
  var concernsDeletedUser: Bool {
    switch self {
    case .user(_, .deletion), .user(_, .account(.register)): true
    case .user, .room, .roomInvite, .workspace, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey,
      .legalHold:
      false
    }
  }
}

extension ChatCommand.Operation {
  fileprivate func fingerprint(by actor: UserID?) -> Fingerprint? {
    switch self {
    case .user(_, let command): command.fingerprint(by: actor)
    case .room(_, let command): command.fingerprint(by: actor)
    case .workspace(_, let command): command.fingerprint(by: actor)
    case .roomInvite, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey, .legalHold: nil
    }
  }

  fileprivate func lookup(by context: CommandContext) -> Lookup {
    switch self {
    case .user(let user, let command): return command.lookup(on: user, by: context)
    case .room(let room, let command): return command.lookup(on: room, by: context)
    case .workspace(let workspace, let command): return command.lookup(on: workspace, by: context)
    case .roomInvite, .workspaceInvite, .server: return Lookup()
    case .acceptInvite, .rotateSigningKey, .legalHold:
      var lookup = Lookup()
      lookup.command = CommandKey(of: context)
      return lookup
    }
  }
}

extension LogPosition {
  /// The position of what need not be looked up, and so is never outdated.
  package static let latest = LogPosition(.max)
}

/// The writer's reply.
package enum ChatReply: Sendable {
  case done(ChatOutcome)
  case rejected(Rejection)
  /// What was looked up is older than what the writer remembers. Look it up again.
  case outdated
}

/// The result of a command that was done, now or before.
package struct ChatOutcome: Sendable {
  /// The stamp of the first event that it recorded.
  package let stamp: Stamp
  /// The events, if they are new; empty for a retry.
  package let events: [RecordedEvent]
  /// What the command created; nil if it only changed something, or if it existed before.
  package let created: CreatedEntity?
  /// The room of the command.
  package let room: RoomID?
  /// The workspace of the command.
  package let workspace: WorkspaceID?
  /// The message of the command, as it was before the command.
  package let message: KnownMessage?

  package var isNew: Bool { !events.isEmpty }
}
