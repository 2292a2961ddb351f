package import ChatPrimitives

/// One room: its life, its invites, its members and its messages. The facts stand in `RoomEvent`, the state in `Room`,
/// who may do what in `RoomDecider+Rights`; what a command comes to, in `RoomDecider+Rooms`, `+Sharing`, `+Members`,
/// `+Moderation`, `+Messages`, `+Threads`, `+Reactions`, `+Reading` and `+Scheduling`.
///
/// An archived room can be read, left and tidied (members removed and banned, roles changed, invites revoked, messages
/// deleted); nothing can be added to it or changed in it, until it is opened again. A direct room's members and looks
/// are fixed. A deleted room takes no command.
package enum RoomDecider: Decider {
  package typealias State = RoomState
  package typealias Command = RoomCommand
  package typealias Event = RoomEvent

  package static var initial: RoomState { .absent }

  // MARK: Decide

  package static func decide(
    _ command: RoomCommand, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    switch command {
    case .create(let creation):
      try create(creation, in: state, directory)
    case .edit(let edit):
      try self.edit(edit, in: state)
    case .archive: try archive(by: act, state)
    case .restore: try restore(by: act, state)
    case .delete: try delete(state)
    case .createInvite(let invite):
      try createInvite(invite, by: act, in: state, directory)
    case .revokeInvite(let id):
      try revokeInvite(id, in: state)
    case .acceptInvite(let id):
      try acceptInvite(id, by: act, in: state, directory)
    case .join:
      try join(by: act, in: state, directory)
    case .addMember(let user):
      try addMember(user, by: act, in: state, directory)
    case .removeMember(let user):
      try removeMember(user, by: act, in: state, directory)
    case .leave:
      try leave(by: act, in: state)
    case .changeRole(let user, let role):
      try changeRole(of: user, to: role, by: act, in: state, directory)
    case .transfer(let user):
      try transfer(to: user, by: act, in: state)
    case .ban(let user):
      try ban(user, by: act, in: state, directory)
    case .unban(let user):
      try unban(user, in: state)
    case .silence(let user, let until):
      try silence(user, until: until, by: act, in: state, directory)
    case .mute(let until):
      .record([.muted(try actor(of: act), until: until)])
    case .sendMessage(let id, let content, let fingerprint, let prior, let context):
      try sendMessage(id, content, fingerprint, prior, context, by: act, in: state)
    case .editMessage(let id, let edit, let target):
      try editMessage(id, edit, target, in: state)
    case .deleteMessage(let id, let target):
      try deleteMessage(id, target)
    case .moveReadMarker(let id, let target):
      try moveReadMarker(id, target, by: act, in: state)
    case .markUnread(let id, let target):
      try markUnread(id, target, by: act, in: state)
    case .scheduleMessage(let id, let message, let prior, let sent, let context):
      try schedule(id, message, prior, sent, context, by: act, in: state)
    case .changeScheduledMessage(let id, let edit, let prior):
      try changeScheduled(id, edit, prior, by: act, in: state)
    case .cancelScheduledMessage(let id, let prior):
      try cancelScheduled(id, prior, by: act, in: state)
    case .sendScheduledMessage(let id, let message, let revision, let context):
      try sendScheduled(id, message, revision: revision, context, by: act, in: state, directory)
    case .moveThreadMarker(let id, _, let target, let root):
      try moveThreadMarker(id, target, root: root, by: act, in: state)
    case .setThreadFollowing(let id, let follows, let root):
      try setThreadFollowing(id, follows, root, by: act, in: state)
    case .react(let id, let emoji, let target, let counts):
      try react(id, emoji, target, counts ?? .none, by: act, in: state)
    case .unreact(let id, let emoji, let target, _):
      try unreact(id, emoji, target, by: act)
    case .pin(let id, let target):
      try pin(id, target, by: act, in: state)
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
      state = Self.standing(of: room, after: event, stamp, archived: nil)
    case .archived(var room, let since):
      state = .absent
      room.apply(event, stamp, by: actor)
      state = Self.standing(of: room, after: event, stamp, archived: since)
    case .deleted:
      break
    }
  }

  private static func standing(of room: Room, after event: RoomEvent, _ stamp: Stamp, archived: Stamp?) -> RoomState {
    if case .deleted = event {
      return .deleted(stamp, creationFingerprint: room.creationFingerprint)
    }
    var room = room
    switch (event, archived) {
    case (.archived, nil):
      room.revision = stamp.position
      return .archived(room, stamp)
    case (.restored, .some):
      room.revision = stamp.position
      return .open(room)
    case (_, let archived?): return .archived(room, archived)
    case (_, nil): return .open(room)
    }
  }

  private static func begin(with event: RoomEvent, _ stamp: Stamp) -> RoomState {
    switch event {
    case .created(let creation):
      .open(Room(creation, stamp))
    case .erased:
      // A stream's first fact is always the creation.
      .open(Room(erasedAt: stamp))
    case .edited, .archived, .restored, .deleted, .inviteCreated, .inviteRevoked, .memberJoined, .memberAdded,
      .admissionRepeated, .memberLeft, .memberRemoved, .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced,
      .muted, .messageSent, .messageEdited, .messageDeleted, .reactionAdded, .reactionRemoved, .messagePinned,
      .messageUnpinned, .readMarkerMoved, .threadMarkerMoved, .markedUnread, .threadFollowingSet, .messageScheduled,
      .scheduledMessageChanged, .scheduledMessageCancelled, .scheduledMessageFailed:
      .absent
    }
  }
}

// MARK: - What decisions ask of a state

extension RoomDecider {
  /// Every command that needs an actor got one, else `authorize` has refused it.
  static func actor(of act: Act) throws(Rejection) -> UserID {
    guard let actor = act.actor else { throw .forbidden }
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
