import ChatPrimitives

/// One room: its life, its invites, its members and its messages. The facts stand in `RoomEvent`, the state in `Room`,
/// who may do what in `RoomDecider+Rights`; what a command comes to, in `RoomDecider+Rooms`, `+Sharing`, `+Members`
/// and `+Messages`.
///
/// An archived room can be read, left and tidied (members removed, invites revoked, messages deleted); nothing can be
/// added to it or changed in it.
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
      try create(creation, in: state)
    case .edit(let edit):
      try self.edit(edit, in: state)
    case .archive:
      try archive(state)
    case .createInvite(let invite):
      try createInvite(invite, by: act, in: state)
    case .revokeInvite(let id):
      try revokeInvite(id, in: state)
    case .acceptInvite(let id):
      try acceptInvite(id, by: act, in: state)
    case .join:
      try join(by: act, in: state)
    case .addMember(let user):
      try addMember(user, by: act, in: state, directory)
    case .removeMember(let user):
      try removeMember(user, by: act, in: state)
    case .leave:
      try leave(by: act, in: state)
    case .mute(let until):
      .record([.muted(try actor(of: act), until: until)])
    case .sendMessage(let id, let content, let fingerprint, let prior):
      try sendMessage(id, content, fingerprint, prior, by: act, in: state)
    case .editMessage(let id, let edit, let target):
      try editMessage(id, edit, target, in: state)
    case .deleteMessage(let id, let target):
      try deleteMessage(id, target)
    case .moveReadMarker(let id, let target):
      try moveReadMarker(id, target, by: act, in: state)
    }
  }

  // MARK: Evolve

  package static func evolve(_ state: inout RoomState, _ event: RoomEvent, _ stamp: Stamp) {
    switch state {
    case .absent:
      state = begin(with: event, stamp)
    case .open(var room):
      // The state lets go of the payload first: a hundred thousand members are changed in place and not copied.
      state = .absent
      room.apply(event, stamp)
      state = Self.standing(of: room, after: event, stamp, archived: nil)
    case .archived(var room, let since):
      state = .absent
      room.apply(event, stamp)
      state = Self.standing(of: room, after: event, stamp, archived: since)
    case .deleted:
      break
    }
  }

  private static func standing(of room: Room, after event: RoomEvent, _ stamp: Stamp, archived: Stamp?) -> RoomState {
    if case .deleted = event { return .deleted(stamp) }
    if case .restored = event { return .open(room) }
    if case .archived = event { return .archived(room, archived ?? stamp) }
    return archived.map { .archived(room, $0) } ?? .open(room)
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
