package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import EventStore

/// Everything that commands are decided against, in memory: users, rooms, what is unique, and what the ID index may not
/// know yet. It includes what is on its way to the disk, so only the writer may look at it.
package struct DecisionState: DecisionMachine {
  package typealias Command = ChatCommand
  package typealias Reply = ChatReply

  package var users: [UserID: Versioned<UserState>] = [:]
  package var rooms: [RoomID: Versioned<RoomState>] = [:]
  package var workspaces: [WorkspaceID: Versioned<WorkspaceState>] = [:]
  /// The channels of each workspace that are not deleted.
  package var channels: [WorkspaceID: Set<RoomID>] = [:]
  package var names = UniqueNames()
  package var serverVersion = StreamVersion.none
  package var signingKeys = SigningKeyHistory()
  package var rules = AccountRules()
  package var usage = DailyUsage()
  let quotas: Quotas
  var recent: RecentFacts
  private let seen: SeenIDs

  /// - Parameters:
  ///   - seen: learns every ID that is recorded.
  ///   - floor: the state is as of here, and the ID index knows everything up to here.
  ///   - quotas: what users may use on one day.
  ///   - retained: entries that are remembered though the ID index knows them.
  package init(
    seen: SeenIDs, floor: LogPosition, quotas: Quotas = Quotas(), retained: Int = RecentFacts.retained
  ) {
    self.seen = seen
    self.quotas = quotas
    recent = RecentFacts(floor: floor, retained: retained)
  }

  package mutating func decide(_ command: ChatCommand, next: LogPosition, now: Timestamp) -> Decision<ChatReply> {
    if command.order?.isBroken == true { return Decision(events: [], reply: .staleFacts) }
    guard command.factsAsOf >= recent.floor else {
      command.order?.breakOff()
      return Decision(events: [], reply: .staleFacts)
    }
    var command = command
    command.act.time = now
    do throws(Rejection) {
      try checkStanding(for: command)
      switch command.operation {
      case .user(let operation):
        return try decideUser(operation, command, next)
      case .room(let room, let operation):
        return try decideRoom(room, operation, command, next)
      case .roomInvite(let room, let invite):
        return try decideRoom(room, .createInvite(withFirstExpiry(invite, in: room)), command, next)
      case .acceptInvite(let tokenHash):
        switch names.invite(withTokenHash: tokenHash) {
        case nil: throw .inviteNotFound
        case .room(let room, let invite):
          return try decideRoom(room, .acceptInvite(invite), command, next)
        case .workspace(let workspace, let invite):
          return try decideWorkspace(workspace, .acceptInvite(invite), command, next)
        }
      case .workspace(let workspace, let operation):
        return try decideWorkspace(workspace, operation, command, next)
      case .workspaceInvite(let workspace, let invite):
        return try decideWorkspace(workspace, .createInvite(withFirstExpiry(invite, in: workspace)), command, next)
      case .server(let event):
        return record([.server(event)], command.act, next, room: nil, message: nil)
      case .rotateSigningKey:
        return try decideRotation(command, next)
      }
    } catch {
      return Decision(events: [], reply: .rejected(error))
    }
  }

  /// Lets go of what the read models have applied that commands are looked up in.
  package mutating func forget(through applied: LogPosition) {
    recent.forget(through: applied)
  }
}

// MARK: - Deciding

extension DecisionState {
  private mutating func decideUser(
    _ wish: UserCommand, _ command: ChatCommand, _ next: LogPosition
  )
    throws(Rejection) -> Decision<ChatReply>
  {
    let verdict = try UserDecider.settle(
      wish, by: command.act, prior: prior(of: command), on: wish.user.uuid, in: user(wish, command), self)
    switch verdict {
    case .alreadyDone(let stamp): return repeated(stamp, room: nil, message: nil)
    case .record(let events):
      var facts = events.map { ChatEvent.user(wish.user, $0) }
      if case .setDevice(let device, let description) = wish.action {
        facts += UserDecider.movedTokens(to: device, description, of: wish.user, self)
      }
      try checkQuotas(facts, command.act)
      return record(facts, command.act, next, room: nil, message: nil)
    }
  }

  private mutating func decideRotation(
    _ command: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> Decision<ChatReply> {
    guard command.act.isByService else { throw .serviceOnly }
    if let prior = prior(of: command) {
      let stamp = try prior.answer(to: Fingerprint.signingKeyRotation.scoped(to: .zero))
      return repeated(stamp, room: nil, message: nil)
    }
    let event = ServerEvent.signingKeyRotated(generation: signingKeys.current + 1)
    return record([.server(event)], command.act, next, room: nil, message: nil)
  }

  private mutating func decideRoom(
    _ room: RoomID, _ wish: RoomCommand, _ command: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> Decision<ChatReply> {
    let wish = withNewestFacts(wish, command.scheduling, by: command.act.actor, in: room)
    let message = wish.message?.facts
    let verdict = try RoomDecider.settle(
      wish, by: command.act, prior: prior(of: command), on: room.uuid,
      in: rooms[room]?.state ?? RoomState(ending(of: command)), self)
    switch verdict {
    case .alreadyDone(let stamp): return repeated(stamp, room: room, message: message)
    case .record(let events):
      let facts = events.map { ChatEvent.room(room, $0) }
      // A scheduled message was counted when it was scheduled.
      if !wish.sendsScheduled { try checkQuotas(facts, command.act) }
      return record(
        facts, command.act, next, room: room, message: message,
        fingerprint: wish.isKnownByItself ? wish.fingerprint : nil, reactions: wish.reaction?.counts)
    }
  }

  private mutating func decideWorkspace(
    _ workspace: WorkspaceID, _ wish: WorkspaceCommand, _ command: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> Decision<ChatReply> {
    let verdict = try WorkspaceDecider.settle(
      wish, by: command.act, prior: prior(of: command), on: workspace.uuid,
      in: workspaces[workspace]?.state ?? WorkspaceState(ending(of: command)), self)
    switch verdict {
    case .alreadyDone(let stamp): return repeated(stamp, room: nil, message: nil, workspace: workspace)
    case .record(let events):
      let facts =
        events.map { .workspace(workspace, $0) } + WorkspaceDecider.consequences(of: events, in: workspace, self)
      try checkQuotas(facts, command.act)
      return record(facts, command.act, next, room: nil, message: nil, workspace: workspace)
    }
  }

  /// What is known of an earlier command under the same key, by the writer itself or by what was looked up.
  private func prior(of command: ChatCommand) -> CommandFacts? {
    guard let key = CommandKey(acting: command.act) else { return nil }
    return recent.command(key) ?? command.prior
  }

  /// A token is good for nothing once its session has ended, save for ending it again. Without a session a user comes
  /// with a token of another issuer, or to log in.
  private func checkStanding(for command: ChatCommand) throws(Rejection) {
    let act = command.act
    guard let actor = act.actor, !act.isByService else { return }
    // The caller of a registration has shown nothing yet: the decider compares the password first.
    if case .user(let registration) = command.operation, case .register = registration.action { return }
    guard case .registered(let user) = users[actor]?.state else {
      if act.session != nil { throw .sessionEnded }
      return
    }
    if let session = act.session {
      if case .user(let wish) = command.operation, case .endSession(session, _) = wish.action { return }
      guard user.openSessions.contains(session) else { throw .sessionEnded }
    } else if user.disabled != nil {
      throw .accountDisabled
    }
    if !rules.guestsCreateRooms, makesPlace(command) { try user.requireFullAccount() }
  }

  /// Whether it makes a room or a workspace, and does not just ask for one that is or was there.
  private func makesPlace(_ command: ChatCommand) -> Bool {
    if case .room(let id, .create) = command.operation { return rooms[id] == nil && ending(of: command) == nil }
    if case .workspace(let id, .create) = command.operation {
      return workspaces[id] == nil && ending(of: command) == nil
    }
    return false
  }

  /// The command with what the writer itself knows of its messages.
  /// - Parameter scheduling: what was looked up of a scheduled message under the same ID.
  private func withNewestFacts(
    _ wish: RoomCommand, _ scheduling: SchedulingFacts?, by actor: UserID?, in room: RoomID
  ) -> RoomCommand {
    var wish = wish.withFacts { id, found in recent.message(MessageKey(room: room, message: id), found: found) }
    if let actor, let key = ReactionKey(wish, by: actor, in: room) {
      wish = wish.withReactions(recent.reactions(key, found: wish.reaction?.counts ?? .none))
    }
    guard let id = wish.schedulable,
      let facts = recent.scheduling(MessageKey(room: room, message: id)) ?? scheduling
    else { return wish }
    return wish.withScheduling(facts)
  }

  private func withFirstExpiry(_ invite: Invite, in room: RoomID) -> Invite {
    guard let first = rooms[room]?.state.room?.invites[invite.id] else { return invite }
    var invite = invite
    invite.expiresAt = first.invite.expiresAt
    return invite
  }

  private func withFirstExpiry(_ invite: WorkspaceInvite, in workspace: WorkspaceID) -> WorkspaceInvite {
    guard let first = workspaces[workspace]?.state.workspace?.invites[invite.id] else { return invite }
    var invite = invite
    invite.expiresAt = first.invite.expiresAt
    return invite
  }

  private func repeated(
    _ stamp: Stamp, room: RoomID?, message: MessageFacts?, workspace: WorkspaceID? = nil
  ) -> Decision<ChatReply> {
    Decision(
      events: [],
      reply: .done(ChatOutcome(stamp: stamp, events: [], room: room, workspace: workspace, message: message)))
  }

  private mutating func record(
    _ events: [ChatEvent], _ act: Act, _ next: LogPosition, room: RoomID?, message: MessageFacts?,
    fingerprint: Fingerprint? = nil, reactions: ReactionCounts? = nil, workspace: WorkspaceID? = nil
  ) -> Decision<ChatReply> {
    var recorded: [RecordedEvent] = []
    recorded.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      let entry = RecordedEvent(
        stamp: Stamp(position: next.advanced(by: index), time: act.time), version: version(of: event).next,
        actor: act.actor, service: act.service, device: act.device, command: act.command,
        originalTime: act.originalTime, event: event)
      take(entry, fingerprint: fingerprint, reactions: reactions)
      recorded.append(entry)
    }
    let stamp = Stamp(position: next, time: act.time)
    return Decision(
      events: recorded,
      reply: .done(
        ChatOutcome(stamp: stamp, events: recorded, room: room, workspace: workspace, message: message)))
  }
}

// MARK: - Evolving

/// A stream's state and how many events made it.
package struct Versioned<State: Sendable & Equatable>: Sendable, Equatable {
  package var state: State
  package var version: StreamVersion

  package init(state: State, version: StreamVersion) {
    self.state = state
    self.version = version
  }
}

extension DecisionState {
  private func version(of event: ChatEvent) -> StreamVersion {
    switch event {
    case .user(let id, _): users[id]?.version ?? .none
    case .room(let id, _): rooms[id]?.version ?? .none
    case .workspace(let id, _): workspaces[id]?.version ?? .none
    case .server: serverVersion
    }
  }

  /// Takes in a fact that was just decided.
  /// - Parameters:
  ///   - fingerprint: of the message that it sends, when the caller has it already.
  ///   - reactions: what the message that is reacted to had of reactions before, when that was decided on.
  package mutating func take(
    _ recorded: RecordedEvent, fingerprint: Fingerprint? = nil, reactions: ReactionCounts? = nil
  ) {
    charge(recorded)
    switch recorded.event {
    case .user(let id, let event):
      UserDecider.evolve(
        &users[id, default: Versioned(state: UserDecider.initial, version: .none)].state, event, recorded.stamp,
        by: recorded.actor)
      users[id]?.version = recorded.version
    case .room(let id, let event):
      noteChannel(id, event)
      if case .lifecycle(.deleted) = event {
        names.leave(rooms[id]?.state.room?.invites.values.map(\.invite.tokenHash) ?? [])
      }
      RoomDecider.evolve(
        &rooms[id, default: Versioned(state: RoomDecider.initial, version: .none)].state, event, recorded.stamp,
        by: recorded.actor)
      rooms[id]?.version = recorded.version
    case .workspace(let id, let event):
      if case .lifecycle(.deleted) = event {
        names.leave(workspaces[id]?.state.workspace?.invites.values.map(\.invite.tokenHash) ?? [])
      }
      WorkspaceDecider.evolve(
        &workspaces[id, default: Versioned(state: WorkspaceDecider.initial, version: .none)].state, event,
        recorded.stamp, by: recorded.actor)
      workspaces[id]?.version = recorded.version
    case .server(let event):
      if case .signingKeyRotated(let generation) = event {
        signingKeys.rotate(to: generation, at: recorded.stamp)
      }
      serverVersion = recorded.version
    }
    names.take(recorded.event)
    takeIDs(recorded, fingerprint)
    takeReaction(recorded, reactions)
    takeEnding(recorded)
  }

  private mutating func takeReaction(_ recorded: RecordedEvent, _ before: ReactionCounts?) {
    guard let before, case .room(let room, let event) = recorded.event else { return }
    if case .annotations(.reactionAdded(let id, _, let user, let emoji)) = event {
      let key = ReactionKey(message: MessageKey(room: room, message: id), user: user, emoji: emoji)
      recent.enter(before.adding, for: key, at: recorded.position)
    } else if case .annotations(.reactionRemoved(let id, _, let user, let emoji)) = event {
      let key = ReactionKey(message: MessageKey(room: room, message: id), user: user, emoji: emoji)
      recent.enter(before.removing, for: key, at: recorded.position)
    }
  }

  private mutating func takeIDs(_ recorded: RecordedEvent, _ fingerprint: Fingerprint?) {
    defer { seen.advance(to: recorded.position) }
    if let key = CommandKey(recorded) {
      recent.enter(CommandFacts(stamp: recorded.stamp, fingerprint: recorded.event.commandFingerprint), for: key)
      seen.insert(key, at: recorded.position)
    }
    guard case .room(let room, let event) = recorded.event else { return }
    switch event {
    case .messages(.sent(let id, let author, let thread, let content)):
      let key = MessageKey(room: room, message: id)
      let facts = MessageFacts(
        author: author, place: thread?.place ?? .room(rooms[room]?.state.lastOrdinal ?? 0), sent: recorded.stamp,
        sentAt: recorded.occurredAt, revision: recorded.position, isDeleted: false,
        fingerprint: fingerprint
          ?? content.map { .message($0, author: author, thread: thread?.root.message) },
        hasParts: content?.hasParts ?? false)
      recent.enter(facts, for: key)
      if let thread {
        let root = MessageKey(room: room, message: thread.root.message)
        recent.enter(replyTo: root, ordinal: thread.ordinal, at: recorded.position)
      }
      seen.insert(key, at: recorded.position)
    case .scheduling(.scheduled(let id, let message)):
      let key = MessageKey(room: room, message: id)
      recent.enter(
        SchedulingFacts(author: message.author, scheduled: recorded.stamp, fingerprint: .scheduling(message)), for: key)
      seen.insert(key, at: recorded.position)
    case .messages(.edited(let id, _, _)):
      recent.enter(
        MessageRevision(stamp: recorded.stamp, deletes: false), for: MessageKey(room: room, message: id))
    case .messages(.deleted(let id, _)):
      recent.enter(
        MessageRevision(stamp: recorded.stamp, deletes: true), for: MessageKey(room: room, message: id))
    case .lifecycle, .sharing, .members, .annotations, .reading, .threads, .scheduling(.changed),
      .scheduling(.cancelled), .scheduling(.failed), .erased:
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
