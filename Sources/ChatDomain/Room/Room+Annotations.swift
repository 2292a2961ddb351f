package import ChatPrimitives

extension RoomEvent {
  /// Reactions and pins.
  package enum Annotations: Sendable, Equatable {
    case reactionAdded(MessageID, at: MessageLocation, by: UserID, emoji: String)
    case reactionRemoved(MessageID, at: MessageLocation, by: UserID, emoji: String)
    case pinned(MessageID, at: MessageLocation)
    case unpinned(MessageID, at: MessageLocation)
  }
}

extension RoomEvent.Annotations: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .reactionAdded(let id, _, _, let emoji): .reaction(id, emoji, isAdded: true)
    case .reactionRemoved(let id, _, _, let emoji): .reaction(id, emoji, isAdded: false)
    case .pinned(let id, _): .pin(id, isPinned: true)
    case .unpinned(let id, _): .pin(id, isPinned: false)
    }
  }

  var textBytes: Int {
    switch self {
    case .reactionAdded(_, _, _, let emoji), .reactionRemoved(_, _, _, let emoji): emoji.byteCount
    case .pinned, .unpinned: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .reactionAdded, .pinned: false
    case .reactionRemoved, .unpinned: true
    }
  }
}

extension Fingerprint {
  static func reaction(_ message: MessageID, _ emoji: String, isAdded: Bool) -> Fingerprint {
    Fingerprint(.text(isAdded ? "reaction.add" : "reaction.remove"), .id(message.uuid), .text(emoji))
  }

  static func pin(_ message: MessageID, isPinned: Bool) -> Fingerprint {
    Fingerprint(.text(isPinned ? "message.pin" : "message.unpin"), .id(message.uuid))
  }
}

// MARK: - Decide

/// Reactions and pins.
extension RoomDecider {
  /// Recorded even when the reaction stands there already: the event carries the idempotency key by which a late retry
  /// is known. The same holds for taking one back.
  static func react(
    _ id: MessageID, _ emoji: String, _ target: KnownMessage?, _ counts: ReactionCounts, by context: CommandContext,
    in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    _ = try openRoom(state)
    try MessageRules.emoji(emoji)
    try counts.requirePlaceForOne()
    return .record([.annotations(.reactionAdded(id, at: target.place, by: user, emoji: emoji))])
  }

  static func unreact(
    _ id: MessageID, _ emoji: String, _ target: KnownMessage?, by context: CommandContext
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    try MessageRules.emoji(emoji)
    return .record([.annotations(.reactionRemoved(id, at: target.place, by: user, emoji: emoji))])
  }

  /// Who pins what is pinned is answered with the first pin; under a key that is recorded, for only so is its late retry
  /// known when the pin has gone since.
  static func pin(
    _ id: MessageID, _ target: KnownMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    let room = try openRoom(state)
    if let pin = room.pinned[id] {
      if context.command == nil { return .alreadyDone(pin.pinned) }
    } else {
      guard room.pinned.count < Limits.pinsPerRoom else { throw .tooManyPins }
    }
    return .record([.annotations(.pinned(id, at: target.place))])
  }

  /// Recorded even when the message is not pinned, for the key. A deleted message lost its pin already.
  static func unpin(
    _ id: MessageID, _ target: KnownMessage?, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let target else { throw .messageNotFound }
    _ = try room(state)
    return .record([.annotations(.unpinned(id, at: target.place))])
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Annotations, _ stamp: Stamp) {
    switch event {
    case .pinned(let id, let place):
      if pinned[id] == nil { pinned[id] = PinnedMessage(place: place, pinned: stamp) }
    case .unpinned(let id, _):
      if !pinned.isEmpty { pinned[id] = nil }
    case .reactionAdded, .reactionRemoved:
      break
    }
  }
}
