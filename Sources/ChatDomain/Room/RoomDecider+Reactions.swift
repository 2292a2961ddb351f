import ChatPrimitives

/// Reactions and pins.
extension RoomDecider {
  /// Recorded even when the reaction stands there already: the fact carries the idempotency key by which a late retry is
  /// known. The same holds for taking one back.
  static func react(
    _ id: MessageID, _ emoji: String, _ target: MessageFacts?, _ counts: ReactionCounts, by act: Act,
    in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    _ = try openRoom(state)
    try MessageRules.emoji(emoji)
    try counts.requirePlaceForOne()
    return .record([.reactionAdded(id, at: target.place, by: user, emoji: emoji)])
  }

  static func unreact(
    _ id: MessageID, _ emoji: String, _ target: MessageFacts?, by act: Act
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    try MessageRules.emoji(emoji)
    return .record([.reactionRemoved(id, at: target.place, by: user, emoji: emoji)])
  }

  /// Who pins what is pinned is answered with the first pin; under a key that is recorded, for only so is its late retry
  /// known when the pin has gone since.
  static func pin(
    _ id: MessageID, _ target: MessageFacts?, by act: Act, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    let room = try openRoom(state)
    if let pin = room.pinned[id] {
      if act.command == nil { return .alreadyDone(pin.pinned) }
    } else {
      guard room.pinned.count < Limits.pinsPerRoom else { throw .tooManyPins }
    }
    return .record([.messagePinned(id, at: target.place)])
  }

  /// Recorded even when the message is not pinned, for the key. A deleted message lost its pin already.
  static func unpin(
    _ id: MessageID, _ target: MessageFacts?, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target else { throw .messageNotFound }
    _ = try room(state)
    return .record([.messageUnpinned(id, at: target.place)])
  }
}
