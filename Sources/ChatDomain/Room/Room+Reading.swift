package import ChatPrimitives

extension RoomEvent {
  package enum Reading: Sendable, Equatable {
    /// The user has read the room's timeline up to the message with this ordinal.
    case markerMoved(UserID, to: MessageID, ordinal: UInt64)
    /// Shows this message and all later ones to the user as unread, until the read marker moves again.
    case markedUnread(UserID, from: MessageID, ordinal: UInt64)
  }
}

extension RoomEvent.Reading: EventFamily {
  /// Does not include who read: idempotency keys are looked up within one actor.
  package var fingerprint: Fingerprint? {
    switch self {
    case .markerMoved(_, let message, _): .markerMove(to: message)
    case .markedUnread(_, let message, _): .markingUnread(from: message)
    }
  }
}

extension Fingerprint {
  static func markerMove(to message: MessageID) -> Fingerprint {
    Fingerprint(.text("marker.move"), .id(message.uuid))
  }

  static func markingUnread(from message: MessageID) -> Fingerprint {
    Fingerprint(.text("marker.unread"), .id(message.uuid))
  }
}

// MARK: - Commands

extension RoomCommand {
  package enum Reading: Sendable, Equatable {
    /// The actor has read up to this message.
    case moveMarker(to: MessageID)
    /// Shows this message and all later ones to the actor as unread.
    case markUnread(from: MessageID)
  }
}

extension RoomCommand.Reading: AggregateCommand {
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .moveMarker(let id): .markerMove(to: id)
    case .markUnread(let id): .markingUnread(from: id)
    }
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .moveMarker(let id), .markUnread(let id): lookup.messages = [MessageKey(room: room, message: id)]
    }
  }
}

// MARK: - Decide

extension RoomDecider {
  func decide(_ command: RoomCommand.Reading) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .moveMarker(let id): try moveMarker(to: id)
    case .markUnread(let id): try markUnread(from: id)
    }
  }

  /// Markers only move forward. If the marker is at the message or after it, the result is the message's stamp, because
  /// the position of the last move is not stored. Under a key an event is recorded anyway, so that a late retry is
  /// recognised after messages were marked as unread.
  ///
  /// A move that reaches messages marked as unread is recorded even if the marker does not move: it removes the mark.
  private func moveMarker(to id: MessageID) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    let target = try timelineMessage(id)
    if let done = try doneBefore() { return done }
    let user = try actor()
    guard let member = try room().members[user] else { throw .roomNotFound }
    let removesMark = member.unreadFrom.map { $0 <= target.location.ordinal } ?? false
    guard target.location.ordinal > member.marker || removesMark || context.command != nil else {
      return .alreadyDone(target.sent)
    }
    return .record([.reading(.markerMoved(user, to: id, ordinal: target.location.ordinal))])
  }

  /// Recorded even when nothing changes: the event has the idempotency key by which a late retry is recognised.
  private func markUnread(from id: MessageID) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    let target = try timelineMessage(id)
    if let done = try doneBefore() { return done }
    return .record([.reading(.markedUnread(try actor(), from: id, ordinal: target.location.ordinal))])
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Reading) {
    switch event {
    case .markerMoved(let user, _, let ordinal):
      members.change(user) {
        $0.marker = max($0.marker, ordinal)
        if let from = $0.unreadFrom, from <= ordinal { $0.unreadFrom = nil }
      }
    case .markedUnread(let user, _, let ordinal):
      members.change(user) { $0.unreadFrom = ordinal }
    }
  }
}
