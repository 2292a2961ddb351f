package import ChatPrimitives

/// One room. Each family of events has a file, `Room+Lifecycle` to `Room+Scheduling`: its events, what its commands record,
/// and how the state changes. The state is in `Room`, and who may do what in `RoomDecider+Rights`.
///
/// In an archived room users can read, leave and moderate (remove and ban members, change roles, revoke invites, delete
/// messages). Nothing can be added or changed until it is restored. A direct room's members, name, topic and picture are
/// fixed. A deleted room accepts no command.
package enum RoomDecider: Decider {
  package typealias State = RoomState
  package typealias Command = RoomCommand
  package typealias Event = RoomEvent

  package static var initial: RoomState { .absent }

  // MARK: Decide

  package static func decide(
    _ command: RoomCommand, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .create(let creation):
      try create(creation, in: state, directory)
    case .edit(let edit):
      try self.edit(edit, in: state)
    case .archive: try archive(by: context, state)
    case .restore: try restore(by: context, state)
    case .delete: try delete(state)
    case .createInvite(let invite):
      try createInvite(invite, by: context, in: state, directory)
    case .revokeInvite(let id):
      try revokeInvite(id, in: state)
    case .acceptInvite(let id):
      try acceptInvite(id, by: context, in: state, directory)
    case .join:
      try join(by: context, in: state, directory)
    case .addMember(let user):
      try addMember(user, by: context, in: state, directory)
    case .removeMember(let user):
      try removeMember(user, by: context, in: state, directory)
    case .leave:
      try leave(by: context, in: state)
    case .changeRole(let user, let role):
      try changeRole(of: user, to: role, by: context, in: state, directory)
    case .transfer(let user):
      try transfer(to: user, by: context, in: state)
    case .ban(let user):
      try ban(user, by: context, in: state, directory)
    case .unban(let user):
      try unban(user, in: state)
    case .silence(let user, let until):
      try silence(user, until: until, by: context, in: state, directory)
    case .mute(let until):
      .record([.members(.muted(try actor(of: context), until: until))])
    case .sendMessage(let id, let content, let fingerprint, let prior, let references):
      try sendMessage(id, content, fingerprint, prior, references, by: context, in: state)
    case .editMessage(let id, let edit, let target):
      try editMessage(id, edit, target, in: state)
    case .deleteMessage(let id, let target):
      try deleteMessage(id, target)
    case .moveReadMarker(let id, let target):
      try moveReadMarker(id, target, by: context, in: state)
    case .markUnread(let id, let target):
      try markUnread(id, target, by: context, in: state)
    case .scheduleMessage(let id, let message, let prior, let sent, let references):
      try schedule(id, message, prior, sent, references, by: context, in: state)
    case .changeScheduledMessage(let id, let edit, let prior):
      try changeScheduled(id, edit, prior, by: context, in: state)
    case .cancelScheduledMessage(let id, let prior):
      try cancelScheduled(id, prior, by: context, in: state)
    case .sendScheduledMessage(let id, let message, let revision, let references):
      try sendScheduled(id, message, revision: revision, references, by: context, in: state, directory)
    case .moveThreadMarker(let id, _, let target, let root):
      try moveThreadMarker(id, target, root: root, by: context, in: state)
    case .setThreadFollowing(let id, let follows, let root):
      try setThreadFollowing(id, follows, root, by: context, in: state)
    case .react(let id, let emoji, let target, let counts):
      try react(id, emoji, target, counts ?? .none, by: context, in: state)
    case .unreact(let id, let emoji, let target, _):
      try unreact(id, emoji, target, by: context)
    case .pin(let id, let target):
      try pin(id, target, by: context, in: state)
    case .unpin(let id, let target):
      try unpin(id, target, in: state)
    }
  }

  // MARK: Revisions

  /// Of a message as it was looked up; of the room for what concerns the room.
  package static func revision(for command: RoomCommand, in state: RoomState) -> LogPosition? {
    switch command {
    case .edit, .archive, .restore, .delete: state.room?.revision
    case .editMessage(_, _, let target), .deleteMessage(_, let target): target?.revision
    case .changeScheduledMessage(let id, _, _), .cancelScheduledMessage(let id, _):
      state.room?.scheduled[id]?.revision
    case .create, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember, .removeMember, .leave, .changeRole,
      .transfer, .ban, .unban, .silence, .mute, .sendMessage, .moveReadMarker, .markUnread, .scheduleMessage,
      .sendScheduledMessage, .moveThreadMarker, .setThreadFollowing, .react, .unreact, .pin, .unpin:
      nil
    }
  }

  // MARK: Evolve

  package static func evolve(_ state: inout RoomState, _ event: RoomEvent, _ stamp: Stamp, by actor: UserID?) {
    switch state {
    case .absent:
      state = begin(with: event, stamp)
    case .open(var room):
      // The state lets go of the payload first: a hundred thousand members are changed in place and not copied.
      state = .absent
      room.apply(event, stamp, by: actor)
      state = Self.existing(room, after: event, stamp, archived: nil)
    case .archived(var room, let since):
      state = .absent
      room.apply(event, stamp, by: actor)
      state = Self.existing(room, after: event, stamp, archived: since)
    case .deleted:
      break
    }
  }

  private static func existing(_ room: Room, after event: RoomEvent, _ stamp: Stamp, archived: Stamp?) -> RoomState {
    switch event {
    case .lifecycle(.deleted): return .deleted(stamp, creationFingerprint: room.creationFingerprint)
    case .lifecycle(.archived):
      if let archived { return .archived(room, archived) }
      var room = room
      room.revision = stamp.position
      return .archived(room, stamp)
    case .lifecycle(.restored):
      var room = room
      if archived != nil { room.revision = stamp.position }
      return .open(room)
    case .lifecycle(.created), .lifecycle(.edited), .sharing, .members, .messages, .annotations, .reading, .threads,
      .scheduling, .erased:
      return archived.map { .archived(room, $0) } ?? .open(room)
    }
  }

  private static func begin(with event: RoomEvent, _ stamp: Stamp) -> RoomState {
    switch event {
    case .lifecycle(.created(let creation)):
      .open(Room(creation, stamp))
    case .erased:
      // A stream's first event is always the creation.
      .open(Room(erasedAt: stamp))
    case .lifecycle, .sharing, .members, .messages, .annotations, .reading, .threads, .scheduling:
      .absent
    }
  }
}

// MARK: - What decisions ask of a state

extension RoomDecider {
  /// Every command that needs an actor got one, else `authorize` has refused it.
  static func actor(of context: CommandContext) throws(Rejection) -> UserID {
    guard let actor = context.actor else { throw .forbidden }
    return actor
  }

  /// The room, open or archived.
  static func room(_ state: RoomState) throws(Rejection) -> Room {
    guard let room = state.room else { throw .roomNotFound }
    return room
  }

  /// The room, unless it takes nothing new any more.
  static func openRoom(_ state: RoomState) throws(Rejection) -> Room {
    switch state {
    case .absent, .deleted: throw .roomNotFound
    case .open(let room): room
    case .archived: throw .roomArchived
    }
  }
}
