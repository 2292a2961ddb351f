package import ChatPrimitives

/// One room. Each family has a file, `Room+Lifecycle` to `Room+Erasing`: its events, its commands and their rules,
/// and how the state changes. The state is in `Room`, and the rights of roles in `RoomDecider+Rights`.
///
/// In an archived room users can read, leave and moderate (remove and ban members, change roles, revoke invites, delete
/// messages). Nothing can be added or changed until it is restored. A direct room's members, name, topic and picture
/// cannot be changed. A deleted room accepts no command.
package struct RoomDecider: Decider {
  package typealias State = RoomState
  package typealias Command = RoomCommand
  package typealias Event = RoomEvent

  package static var initial: RoomState { .absent }

  package let basis: DecisionBasis<Entity.Room, RoomState>

  package init(_ basis: DecisionBasis<Entity.Room, RoomState>) {
    self.basis = basis
  }

  // MARK: Decide

  package func decide(
    _ command: RoomCommand, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard context.isByService || context.actor != nil else { throw .forbidden }
    return switch command {
    case .lifecycle(let command): try decide(command, directory)
    case .sharing(let command): try decide(command, directory)
    case .members(let command): try decide(command, directory)
    case .messages(let command): try decide(command, directory)
    case .annotations(let command): try decide(command, directory)
    case .reading(let command): try decide(command)
    case .threads(let command): try decide(command)
    case .scheduling(let command): try decide(command, directory)
    case .reports(let command): try decide(command, directory)
    case .erasing(let command): try decide(command, directory)
    }
  }

  // MARK: Evolve

  package static func evolve(_ state: inout RoomState, _ event: RoomEvent, _ stamp: Stamp, by actor: UserID?) {
    switch state {
    case .absent:
      state = begin(with: event, stamp)
    case .open(var room):
      // Clearing the state first releases the payload: a hundred thousand members are changed in place and not copied.
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
      .scheduling, .reports, .erased:
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
    case .lifecycle, .sharing, .members, .messages, .annotations, .reading, .threads, .scheduling, .reports:
      .absent
    }
  }
}

// MARK: - Lookups

extension RoomDecider {
  /// The room, if it is open or archived.
  func room() throws(Rejection) -> Room {
    guard let room = state.room else { throw .roomNotFound }
    return room
  }

  /// The room, if it accepts new content.
  func openRoom() throws(Rejection) -> Room {
    switch state {
    case .absent, .deleted: throw .roomNotFound
    case .open(let room): room
    case .archived: throw .roomArchived
    }
  }

  func messageKey(_ id: MessageID) -> MessageKey { MessageKey(room: self.id, message: id) }

  /// - Throws: `messageNotFound` if the room has no such message.
  func message(_ id: MessageID) throws(Rejection) -> KnownMessage {
    guard let message = known.messages[messageKey(id)] else { throw .messageNotFound }
    return message
  }

  /// A message of the room's timeline.
  func timelineMessage(_ id: MessageID) throws(Rejection) -> KnownMessage {
    let message = try message(id)
    guard !message.location.isInThread else { throw .messageNotFound }
    return message
  }
}
