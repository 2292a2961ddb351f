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
  package var names = UniqueNames()
  package var serverVersion = StreamVersion.none
  package var usage = DailyUsage()
  private let quotas: Quotas
  private var recent: RecentFacts
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
      try checkSession(of: command.act, for: command.operation)
      switch command.operation {
      case .user(let operation):
        return try decideUser(operation, command, next)
      case .room(let room, let operation):
        return try decideRoom(room, operation, command, next)
      case .roomInvite(let room, let invite):
        return try decideRoom(room, .createInvite(withFirstExpiry(invite, in: room)), command, next)
      case .acceptInvite(let tokenHash):
        guard let place = names.invite(withTokenHash: tokenHash) else { throw .inviteNotFound }
        return try decideRoom(place.room, .acceptInvite(place.invite), command, next)
      case .server(let event):
        return record([.server(event)], command.act, next, room: nil, message: nil)
      }
    } catch {
      return Decision(events: [], reply: .rejected(error))
    }
  }

  /// Lets go of what the ID index has applied.
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
      wish, by: command.act, prior: prior(of: command), on: wish.user.uuid, in: users[wish.user]?.state ?? .absent,
      names)
    switch verdict {
    case .alreadyDone(let stamp): return repeated(stamp, room: nil, message: nil)
    case .record(let events):
      return record(events.map { .user(wish.user, $0) }, command.act, next, room: nil, message: nil)
    }
  }

  private mutating func decideRoom(
    _ room: RoomID, _ wish: RoomCommand, _ command: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> Decision<ChatReply> {
    let (wish, message) = withNewestFacts(wish, in: room)
    let verdict = try RoomDecider.settle(
      wish, by: command.act, prior: prior(of: command), on: room.uuid, in: rooms[room]?.state ?? .absent, names)
    switch verdict {
    case .alreadyDone(let stamp): return repeated(stamp, room: room, message: message)
    case .record(let events):
      try checkQuotas(events, command.act, in: room)
      return record(
        events.map { .room(room, $0) }, command.act, next, room: room, message: message,
        fingerprint: wish.isKnownByItself ? wish.fingerprint : nil)
    }
  }

  /// Asked when it is known that there is something new to record: a repeat is answered whatever was used since.
  private func checkQuotas(_ events: [RoomEvent], _ act: Act, in room: RoomID) throws(Rejection) {
    guard !quotas.areOff, !act.isByService, let user = act.actor else { return }
    let wanted = events.reduce(Usage()) { $0 + Usage(of: .room(room, $1)) }
    try usage.check(wanted, by: user, at: act.time, under: quotas)
  }

  /// What is known of an earlier command under the same key, by the writer itself or by what was looked up.
  private func prior(of command: ChatCommand) -> CommandFacts? {
    guard let key = CommandKey(acting: command.act) else { return nil }
    return recent.command(key) ?? command.prior
  }

  /// A token is good for nothing once its session has ended, save for ending it again.
  private func checkSession(of act: Act, for operation: ChatCommand.Operation) throws(Rejection) {
    guard let session = act.session, let actor = act.actor else { return }
    if case .user(let wish) = operation, case .endSession(session, _) = wish.action { return }
    guard case .registered(let user) = users[actor]?.state, user.openSessions.contains(session) else {
      throw .sessionEnded
    }
  }

  /// The command with what the writer itself knows of its message.
  private func withNewestFacts(_ wish: RoomCommand, in room: RoomID) -> (RoomCommand, MessageFacts?) {
    func newest(_ id: MessageID, _ found: MessageFacts?) -> MessageFacts? {
      recent.message(MessageKey(room: room, message: id), found: found)
    }
    switch wish {
    case .sendMessage(let id, let content, let fingerprint, let prior):
      let facts = newest(id, prior)
      return (.sendMessage(id, content, fingerprint: fingerprint, prior: facts), facts)
    case .editMessage(let id, let edit, let target):
      let facts = newest(id, target)
      return (.editMessage(id, edit, target: facts), facts)
    case .deleteMessage(let id, let target):
      let facts = newest(id, target)
      return (.deleteMessage(id, target: facts), facts)
    case .moveReadMarker(let id, let target):
      let facts = newest(id, target)
      return (.moveReadMarker(id, target: facts), facts)
    case .create, .edit, .archive, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember, .removeMember,
      .leave, .mute:
      return (wish, nil)
    }
  }

  private func withFirstExpiry(_ invite: Invite, in room: RoomID) -> Invite {
    guard let first = rooms[room]?.state.room?.invites[invite.id] else { return invite }
    var invite = invite
    invite.expiresAt = first.invite.expiresAt
    return invite
  }

  private func repeated(_ stamp: Stamp, room: RoomID?, message: MessageFacts?) -> Decision<ChatReply> {
    Decision(events: [], reply: .done(ChatOutcome(stamp: stamp, events: [], room: room, message: message)))
  }

  private mutating func record(
    _ events: [ChatEvent], _ act: Act, _ next: LogPosition, room: RoomID?, message: MessageFacts?,
    fingerprint: Fingerprint? = nil
  ) -> Decision<ChatReply> {
    var recorded: [RecordedEvent] = []
    recorded.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      let entry = RecordedEvent(
        stamp: Stamp(position: next.advanced(by: index), time: act.time), version: version(of: event).next,
        actor: act.actor, service: act.service, device: act.device, command: act.command,
        originalTime: act.originalTime, event: event)
      take(entry, fingerprint: fingerprint)
      recorded.append(entry)
    }
    let stamp = Stamp(position: next, time: act.time)
    return Decision(
      events: recorded, reply: .done(ChatOutcome(stamp: stamp, events: recorded, room: room, message: message)))
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
  /// - Parameter fingerprint: of the message that it sends, when the caller has it already.
  package mutating func take(_ recorded: RecordedEvent, fingerprint: Fingerprint? = nil) {
    switch recorded.event {
    case .user(let id, let event):
      UserDecider.evolve(
        &users[id, default: Versioned(state: UserDecider.initial, version: .none)].state, event, recorded.stamp)
      users[id]?.version = recorded.version
    case .room(let id, let event):
      RoomDecider.evolve(
        &rooms[id, default: Versioned(state: RoomDecider.initial, version: .none)].state, event, recorded.stamp)
      rooms[id]?.version = recorded.version
    case .workspace(let id, let event):
      workspaces[id, default: Versioned(state: .absent, version: .none)].state.take(event, recorded.stamp)
      workspaces[id]?.version = recorded.version
    case .server:
      serverVersion = recorded.version
    }
    names.take(recorded.event)
    if let user = recorded.actor { usage.charge(Usage(of: recorded), to: user, at: recorded.stamp.time) }
    takeIDs(recorded, fingerprint)
  }

  private mutating func takeIDs(_ recorded: RecordedEvent, _ fingerprint: Fingerprint?) {
    defer { seen.advance(to: recorded.position) }
    if let key = CommandKey(recorded) {
      recent.enter(CommandFacts(stamp: recorded.stamp, fingerprint: recorded.event.commandFingerprint), for: key)
      seen.insert(key, at: recorded.position)
    }
    guard case .room(let room, let event) = recorded.event else { return }
    switch event {
    case .messageSent(let id, let author, let thread, let content):
      let key = MessageKey(room: room, message: id)
      let facts = MessageFacts(
        author: author, place: thread?.place ?? .room(rooms[room]?.state.lastOrdinal ?? 0), sent: recorded.stamp,
        sentAt: recorded.occurredAt, revision: recorded.position, isDeleted: false,
        fingerprint: fingerprint
          ?? content.map { .message($0, author: author, thread: thread?.root.message) })
      recent.enter(facts, for: key)
      seen.insert(key, at: recorded.position)
    case .messageEdited(let id, _, _):
      recent.enter(
        MessageRevision(stamp: recorded.stamp, deletes: false), for: MessageKey(room: room, message: id))
    case .messageDeleted(let id, _):
      recent.enter(
        MessageRevision(stamp: recorded.stamp, deletes: true), for: MessageKey(room: room, message: id))
    case .created, .edited, .archived, .restored, .deleted, .inviteCreated, .inviteRevoked, .memberJoined, .memberAdded,
      .memberLeft, .memberRemoved, .admissionRepeated, .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced,
      .muted, .reactionAdded, .reactionRemoved, .messagePinned, .messageUnpinned, .readMarkerMoved,
      .threadMarkerMoved, .markedUnread, .threadFollowingSet, .messageScheduled, .scheduledMessageChanged,
      .scheduledMessageCancelled, .scheduledMessageFailed, .erased:
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
