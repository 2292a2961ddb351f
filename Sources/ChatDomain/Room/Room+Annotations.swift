package import ChatPrimitives

extension RoomEvent {
  /// Reactions and pins.
  package enum Annotations: Sendable, Equatable {
    /// - messageAuthor: nil in events from before this field existed. Notifications need it.
    case reactionAdded(
      MessageID, at: MessageLocation, by: UserID, emoji: String, messageAuthor: UserID? = nil)
    /// With an empty emoji, all reactions of a deleted user to the message. Only the server records that.
    case reactionRemoved(MessageID, at: MessageLocation, by: UserID, emoji: String)
    case pinned(MessageID, at: MessageLocation)
    case unpinned(MessageID, at: MessageLocation)
  }
}

extension RoomEvent.Annotations: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .reactionAdded(let id, _, _, let emoji, _): .reaction(id, emoji, isAdded: true)
    case .reactionRemoved(let id, _, _, let emoji): .reaction(id, emoji, isAdded: false)
    case .pinned(let id, _): .pin(id, isPinned: true)
    case .unpinned(let id, _): .pin(id, isPinned: false)
    }
  }

  var textBytes: Int {
    switch self {
    case .reactionAdded(_, _, _, let emoji, _), .reactionRemoved(_, _, _, let emoji): emoji.byteCount
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

// MARK: - Commands

extension RoomCommand {
  package enum Annotations: Sendable, Equatable {
    case react(MessageID, String)
    case unreact(MessageID, String)
    case pin(MessageID)
    case unpin(MessageID)
  }
}

extension RoomCommand.Annotations: AggregateCommand {
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .react(let id, let emoji): .reaction(id, emoji, isAdded: true)
    case .unreact(let id, let emoji): .reaction(id, emoji, isAdded: false)
    case .pin(let id): .pin(id, isPinned: true)
    case .unpin(let id): .pin(id, isPinned: false)
    }
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .react(let id, let emoji), .unreact(let id, let emoji):
      let message = MessageKey(room: room, message: id)
      lookup.messages = [message]
      lookup.reaction = actor.map { ReactionKey(message: message, user: $0, emoji: emoji) }
    case .pin(let id), .unpin(let id):
      lookup.messages = [MessageKey(room: room, message: id)]
    }
  }
}

// MARK: - Decide

extension RoomDecider {
  func decide(
    _ command: RoomCommand.Annotations, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .react(let id, let emoji): try react(id, emoji, directory)
    case .unreact(let id, let emoji): try unreact(id, emoji)
    case .pin(let id): try pin(id, directory)
    case .unpin(let id): try unpin(id, directory)
    }
  }

  /// Recorded even if the user has this reaction already: the event has the idempotency key by which a late retry is
  /// recognised. The same applies to removing a reaction.
  private func react(
    _ id: MessageID, _ emoji: String, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireVoice(directory)
    let target = try message(id)
    if let done = try doneBefore() { return done }
    let user = try actor()
    guard !target.isDeleted else { throw .messageDeleted }
    _ = try openRoom()
    try MessageRules.emoji(emoji)
    let key = ReactionKey(message: messageKey(id), user: user, emoji: emoji)
    let reactions = known.reactions[key] ?? .none
    try reactions.requirePlaceForOne()
    let added: [RoomEvent] = [
      .annotations(.reactionAdded(id, at: target.location, by: user, emoji: emoji, messageAuthor: target.author))
    ]
    return reactions.isOwn ? .recordAgain(added) : .record(added)
  }

  private func unreact(_ id: MessageID, _ emoji: String) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    let target = try message(id)
    if let done = try doneBefore() { return done }
    guard !target.isDeleted else { throw .messageDeleted }
    try MessageRules.emoji(emoji)
    return .record([.annotations(.reactionRemoved(id, at: target.location, by: try actor(), emoji: emoji))])
  }

  /// A message that is pinned already is pinned again only under a key: then the event is recorded, so that a late
  /// retry is recognised after the pin has been removed.
  private func pin(_ id: MessageID, _ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireRightToPin(directory)
    let target = try message(id)
    if let done = try doneBefore() { return done }
    guard !target.isDeleted else { throw .messageDeleted }
    let room = try openRoom()
    let pinned: [RoomEvent] = [.annotations(.pinned(id, at: target.location))]
    if let pin = room.pinned[id] { return context.command == nil ? .alreadyDone(pin.pinned) : .recordAgain(pinned) }
    guard room.pinned.count < Limits.pinsPerRoom else { throw .tooManyPins }
    return .record(pinned)
  }

  /// Recorded even if the message is not pinned, for the key. Deleting a message removes its pin.
  private func unpin(_ id: MessageID, _ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireRightToPin(directory)
    let target = try message(id)
    if let done = try doneBefore() { return done }
    return .record([.annotations(.unpinned(id, at: target.location))])
  }

  /// In a channel, only administrators can pin; in other rooms, every member can.
  private func requireRightToPin(_ directory: borrowing some Directory) throws(Rejection) {
    if try room().kind == .channel { try requireAdministrator(directory) }
    try requireVoice(directory)
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Annotations, _ stamp: Stamp) {
    switch event {
    case .pinned(let id, let location):
      if pinned[id] == nil { pinned[id] = PinnedMessage(location: location, pinned: stamp) }
    case .unpinned(let id, _):
      if !pinned.isEmpty { pinned[id] = nil }
    case .reactionAdded, .reactionRemoved:
      break
    }
  }
}
