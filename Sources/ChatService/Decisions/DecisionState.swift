package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import EventStore

/// The state in memory that commands are decided against: users, rooms, workspaces, unique names, and recent writes
/// that the read models may not have. It includes events that are not durable yet, so only the writer may read it.
package struct DecisionState: DecisionMachine {
  package typealias Command = ChatCommand
  package typealias Reply = ChatReply

  package var users: [UserID: Versioned<UserState>] = [:]
  package var rooms: [RoomID: Versioned<RoomState>] = [:]
  package var workspaces: [WorkspaceID: Versioned<WorkspaceState>] = [:]
  /// The channels of each workspace, without deleted ones.
  package var channels: [WorkspaceID: Set<RoomID>] = [:]
  package var names = UniqueNames()
  package var spaces = SharedSpaces()
  package var items = PersonalItems()
  package var directRooms = DirectRooms()
  package var serverVersion = StreamVersion.none
  package var signingKeys = SigningKeyHistory()
  package var holds = LegalHolds()
  package var rules = AccountRules()
  package var usage = DailyUsage()
  let quotas: Quotas
  var recent: RecentWrites
  private let knownIDs: KnownIDs

  /// - Parameters:
  ///   - knownIDs: gets every ID that is recorded.
  ///   - floor: the position of the state. The ID index has applied everything up to here.
  ///   - quotas: how much users may use in one day.
  ///   - retained: how many entries are kept although the ID index has them.
  package init(
    knownIDs: KnownIDs, floor: LogPosition, quotas: Quotas = Quotas(), retained: Int = RecentWrites.retained
  ) {
    self.knownIDs = knownIDs
    self.quotas = quotas
    recent = RecentWrites(floor: floor, retained: retained)
  }

  package mutating func decide(_ request: ChatCommand, next: LogPosition, now: Timestamp) -> CommitDecision<ChatReply> {
    if request.order?.isBroken == true { return CommitDecision(events: [], reply: .outdated) }
    guard request.knownAsOf >= recent.floor else {
      request.order?.markBroken()
      return CommitDecision(events: [], reply: .outdated)
    }
    var request = request
    request.context.time = now
    request.known = recent.newest(request.known, by: request.lookup)
    do throws(Rejection) {
      try checkAccount(for: request)
      switch request.operation {
      case .user(let user, let command):
        return try decideUser(user, command, request, next)
      case .room(let room, let command):
        return try decideRoom(room, command, request, next)
      case .roomInvite(let room, let invite):
        return try decideRoom(room, .sharing(.createInvite(withFirstExpiry(invite, in: room))), request, next)
      case .acceptInvite(let hash):
        switch names.invite(withHash: hash) {
        case nil: throw .inviteNotFound
        case .room(let room, let invite):
          return try decideRoom(room, .sharing(.acceptInvite(invite)), request, next)
        case .workspace(let workspace, let invite):
          return try decideWorkspace(workspace, .sharing(.acceptInvite(invite)), request, next)
        }
      case .workspace(let workspace, let command):
        return try decideWorkspace(workspace, command, request, next)
      case .workspaceInvite(let workspace, let invite):
        let command = WorkspaceCommand.sharing(.createInvite(withFirstExpiry(invite, in: workspace)))
        return try decideWorkspace(workspace, command, request, next)
      case .server(let event):
        return record([.server(event)], creates: false, request.context, next)
      case .rotateSigningKey:
        return try decideRotation(request, next)
      case .legalHold(let command):
        return try decideHold(command, request, next)
      }
    } catch {
      return CommitDecision(events: [], reply: .rejected(error))
    }
  }

  /// Drops recent writes that the read models have applied.
  package mutating func forget(through applied: LogPosition) {
    recent.forget(through: applied)
  }
}

// MARK: - Deciding

extension DecisionState {
  private mutating func decideUser(
    _ user: UserID, _ command: UserCommand, _ request: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> CommitDecision<ChatReply> {
    let decision = try UserDecider.handle(command, on: basis(user, command, request, self.user(user, request)), self)
    switch decision {
    case .alreadyDone(let stamp): return repeated(stamp)
    case .record(let decided, _), .recordAgain(let decided):
      var events = decided.map { ChatEvent.user(user, $0) }
      if case .deletion(.deleteAccount) = command {
        // A deletion is never refused by a quota.
        return record(deletionEvents(of: user, own: events), creates: decision.creates, request.context, next)
      }
      if case .devices(.set(let device, let description)) = command {
        events += UserDecider.takenTokens(to: device, description, of: user, self)
      }
      try checkQuotas(events, request.context)
      return record(events, creates: decision.creates, request.context, next)
    }
  }

  private mutating func decideRotation(
    _ request: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> CommitDecision<ChatReply> {
    guard request.context.isByService else { throw .serviceOnly }
    if let key = request.lookup.command, let earlier = request.known.commands[key] {
      return repeated(try earlier.stamp(for: Fingerprint.signingKeyRotation.scoped(to: .zero)))
    }
    let event = ServerEvent.signingKeyRotated(generation: signingKeys.current + 1)
    return record([.server(event)], creates: false, request.context, next)
  }

  private mutating func decideRoom(
    _ room: RoomID, _ command: RoomCommand, _ request: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> CommitDecision<ChatReply> {
    // The command's own message is first in the lookup.
    let message = command.sent.flatMap { request.known.messages[MessageKey(room: room, message: $0)] }
    let decision = try RoomDecider.handle(
      command, on: basis(room, command, request, rooms[room]?.state ?? RoomState(request.ending)), self)
    switch decision {
    case .alreadyDone(let stamp): return repeated(stamp, room: room, message: message)
    case .record(let decided, _), .recordAgain(let decided):
      let events = decided.map { ChatEvent.room(room, $0) }
      // A scheduled message was counted when it was scheduled.
      if !command.sendsScheduled { try checkQuotas(events, request.context) }
      return record(
        events, creates: decision.creates, request.context, next, room: room, message: message,
        fingerprint: command.isKnownByItself ? request.fingerprint : nil,
        reactions: request.lookup.reaction.flatMap { request.known.reactions[$0] })
    }
  }

  private mutating func decideWorkspace(
    _ workspace: WorkspaceID, _ command: WorkspaceCommand, _ request: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> CommitDecision<ChatReply> {
    let decision = try WorkspaceDecider.handle(
      command,
      on: basis(workspace, command, request, workspaces[workspace]?.state ?? WorkspaceState(request.ending)), self)
    switch decision {
    case .alreadyDone(let stamp): return repeated(stamp, workspace: workspace)
    case .record(let decided, _), .recordAgain(let decided):
      let events =
        decided.map { .workspace(workspace, $0) } + WorkspaceDecider.consequences(of: decided, in: workspace, self)
      try checkQuotas(events, request.context)
      return record(events, creates: decision.creates, request.context, next, workspace: workspace)
    }
  }

  /// Must not be kept: after the decision the state is changed in place, and a second reference would make that a copy.
  private func basis<Command: AggregateCommand, State>(
    _ id: ID<Command.Entity>, _ command: Command, _ request: ChatCommand, _ state: State
  ) -> DecisionBasis<Command.Entity, State> {
    DecisionBasis(
      id: id, context: request.context,
      fingerprint: request.fingerprint ?? command.fingerprint(by: request.context.actor), known: request.known,
      state: state)
  }

  /// An access token is invalid once its session has ended, except for ending that session again. A user without a
  /// session has a token of another issuer, or is logging in.
  private func checkAccount(for request: ChatCommand) throws(Rejection) {
    let context = request.context
    guard let actor = context.actor else { return }
    if context.isByService {
      // No service can act for a deleted user.
      if isDeleted(actor), !request.operation.concernsDeletedUser { throw .userNotFound }
      return
    }
    // The caller of a registration has proved nothing yet: the decider compares the password first.
    if case .user(_, .account(.register)) = request.operation { return }
    // The session of a retry ended with the account.
    if case .user(actor, .deletion(.deleteAccount)) = request.operation, isDeleted(actor) { return }
    guard case .registered(let user) = users[actor]?.state else {
      if context.session != nil { throw .sessionEnded }
      // A refresh, or a token of another issuer, which has no session.
      if isDeleted(actor) { throw .userNotFound }
      return
    }
    if let session = context.session {
      if case .user(_, .sessions(.end(session, _))) = request.operation { return }
      guard user.openSessions.contains(session) else { throw .sessionEnded }
    } else if user.disabled != nil {
      throw .accountDisabled
    }
    if !rules.guestsCreateRooms, createsSpace(request) { try user.requireFullAccount() }
  }

  /// Whether it creates a new room or workspace, and is not a retry.
  private func createsSpace(_ request: ChatCommand) -> Bool {
    if case .room(let id, .lifecycle(.create)) = request.operation { return rooms[id] == nil && request.ending == nil }
    if case .workspace(let id, .lifecycle(.create)) = request.operation {
      return workspaces[id] == nil && request.ending == nil
    }
    return false
  }

  /// An invite that never expires is no repeat of one that expires.
  private func withFirstExpiry(_ invite: Invite, in room: RoomID) -> Invite {
    guard let first = rooms[room]?.state.room?.invites[invite.id],
      let expiresAt = first.invite.expiresAt
    else { return invite }
    var invite = invite
    invite.expiresAt = expiresAt
    return invite
  }

  private func withFirstExpiry(_ invite: WorkspaceInvite, in workspace: WorkspaceID) -> WorkspaceInvite {
    guard let first = workspaces[workspace]?.state.workspace?.invites[invite.id],
      let expiresAt = first.invite.expiresAt
    else { return invite }
    var invite = invite
    invite.expiresAt = expiresAt
    return invite
  }

  func repeated(
    _ stamp: Stamp, room: RoomID? = nil, message: KnownMessage? = nil, workspace: WorkspaceID? = nil
  ) -> CommitDecision<ChatReply> {
    CommitDecision(
      events: [],
      reply: .done(
        ChatOutcome(stamp: stamp, events: [], created: nil, room: room, workspace: workspace, message: message)))
  }

  mutating func record(
    _ events: [ChatEvent], creates: Bool, _ context: CommandContext, _ next: LogPosition, room: RoomID? = nil,
    message: KnownMessage? = nil,
    fingerprint: Fingerprint? = nil, reactions: ReactionCounts? = nil, workspace: WorkspaceID? = nil
  ) -> CommitDecision<ChatReply> {
    var recorded: [RecordedEvent] = []
    recorded.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      let entry = RecordedEvent(
        stamp: Stamp(position: next.advanced(by: index), time: context.time), version: version(of: event).next,
        actor: context.actor, service: context.service, device: context.device, command: context.command,
        originalTime: context.originalTime, event: event)
      take(entry, fingerprint: fingerprint, reactions: reactions)
      recorded.append(entry)
    }
    let stamp = Stamp(position: next, time: context.time)
    return CommitDecision(
      events: recorded,
      reply: .done(
        ChatOutcome(
          stamp: stamp, events: recorded, created: creates ? events.lazy.compactMap(\.created).first : nil, room: room,
          workspace: workspace, message: message)))
  }
}

extension Decision {
  /// False if what the events would create exists.
  var creates: Bool {
    switch self {
    case .record: true
    case .recordAgain, .alreadyDone: false
    }
  }
}

// MARK: - Evolving

extension DecisionState {
  private func version(of event: ChatEvent) -> StreamVersion {
    switch event {
    case .user(let id, _): users[id]?.version ?? .none
    case .room(let id, _): rooms[id]?.version ?? .none
    case .workspace(let id, _): workspaces[id]?.version ?? .none
    case .server: serverVersion
    }
  }

  /// Applies an event that was just decided.
  /// - Parameters:
  ///   - fingerprint: of the message that it sends or schedules, if the caller has it.
  ///   - reactions: the counts for the message before this reaction, if they were looked up.
  package mutating func take(
    _ recorded: RecordedEvent, fingerprint: Fingerprint? = nil, reactions: ReactionCounts? = nil
  ) {
    charge(recorded)
    switch recorded.event {
    case .user(let id, let event):
      if case .deletion(.deleted) = event, case .registered(let user)? = users[id]?.state { names.leave(id, user) }
      UserDecider.evolve(
        &users[id, default: Versioned(state: UserDecider.initial, version: .none)].state, event, recorded.stamp,
        by: recorded.actor)
      users[id]?.version = recorded.version
    case .room(let id, let event):
      noteChannel(id, event)
      noteMembers(id, event)
      noteItems(id, event, by: recorded.actor)
      if case .lifecycle(.deleted) = event {
        names.leave(rooms[id]?.state.room?.invites.values.flatMap(\.invite.hashes) ?? [])
      }
      RoomDecider.evolve(
        &rooms[id, default: Versioned(state: RoomDecider.initial, version: .none)].state, event, recorded.stamp,
        by: recorded.actor)
      rooms[id]?.version = recorded.version
    case .workspace(let id, let event):
      noteMembers(id, event)
      noteItems(id, event, by: recorded.actor)
      if case .lifecycle(.deleted) = event {
        names.leave(workspaces[id]?.state.workspace?.invites.values.flatMap(\.invite.hashes) ?? [])
      }
      WorkspaceDecider.evolve(
        &workspaces[id, default: Versioned(state: WorkspaceDecider.initial, version: .none)].state, event,
        recorded.stamp, by: recorded.actor)
      workspaces[id]?.version = recorded.version
    case .server(let event):
      switch event {
      case .signingKeyRotated(let generation): signingKeys.rotate(to: generation, at: recorded.stamp)
      case .legalHoldPlaced(let hold): holds.place(hold, recorded.stamp)
      case .legalHoldLifted(let lift): holds.lift(lift)
      case .pushOutcomesRecorded, .erased: break
      }
      serverVersion = recorded.version
    }
    names.take(recorded.event)
    takeIDs(recorded, fingerprint)
    takeReaction(recorded, reactions)
    takeEnding(recorded)
    takeReport(recorded)
  }

  private mutating func takeReaction(_ recorded: RecordedEvent, _ before: ReactionCounts?) {
    guard let before, case .room(let room, let event) = recorded.event else { return }
    if case .annotations(.reactionAdded(let id, _, let user, let emoji, _)) = event {
      let key = ReactionKey(message: MessageKey(room: room, message: id), user: user, emoji: emoji)
      recent.enter(before.adding, for: key, at: recorded.position)
    } else if case .annotations(.reactionRemoved(let id, _, let user, let emoji)) = event {
      let key = ReactionKey(message: MessageKey(room: room, message: id), user: user, emoji: emoji)
      recent.enter(before.removing, for: key, at: recorded.position)
    }
  }

  private mutating func takeIDs(_ recorded: RecordedEvent, _ fingerprint: Fingerprint?) {
    defer { knownIDs.advance(to: recorded.position) }
    if let key = CommandKey(recorded) {
      recent.enter(KnownCommand(stamp: recorded.stamp, fingerprint: recorded.event.commandFingerprint), for: key)
      knownIDs.insert(key, at: recorded.position)
    }
    guard case .room(let room, let event) = recorded.event else { return }
    switch event {
    case .messages(.sent(let id, let author, let thread, let content)):
      let key = MessageKey(room: room, message: id)
      let message = KnownMessage(
        author: author, location: thread?.location ?? .room(rooms[room]?.state.lastOrdinal ?? 0), sent: recorded.stamp,
        sentAt: recorded.occurredAt, revision: recorded.position, isDeleted: false,
        fingerprint: fingerprint
          ?? content.map { .message($0, author: author, thread: thread?.root.message) },
        hasParts: content?.hasParts ?? false, isCustom: content?.details?.custom != nil)
      recent.enter(message, for: key)
      if let thread {
        let root = MessageKey(room: room, message: thread.root.message)
        recent.enter(replyTo: root, ordinal: thread.ordinal, at: recorded.position)
      }
      knownIDs.insert(key, at: recorded.position)
    case .scheduling(.scheduled(let id, let message)):
      guard let author = message?.author ?? recorded.actor else { break }
      let key = MessageKey(room: room, message: id)
      let scheduled = KnownScheduledMessage(
        author: author, scheduled: recorded.stamp, fingerprint: fingerprint ?? message.map { .scheduling($0) })
      recent.enter(scheduled, for: key)
      knownIDs.insert(key, at: recorded.position)
    case .messages(.edited(let id, _, _)):
      recent.enter(
        MessageRevision(stamp: recorded.stamp, deletes: false), for: MessageKey(room: room, message: id))
    case .messages(.deleted(let id, _)):
      recent.enter(
        MessageRevision(stamp: recorded.stamp, deletes: true), for: MessageKey(room: room, message: id))
    case .lifecycle, .sharing, .members, .annotations, .reading, .threads, .scheduling(.changed),
      .scheduling(.cancelled), .scheduling(.failed), .reports, .erased:
      break
    }
  }
}

extension RoomState {
  fileprivate var lastOrdinal: UInt64 {
    switch self {
    case .absent, .deleted: 0
    case .open(let room), .archived(let room, _): room.lastOrdinal
    }
  }
}
