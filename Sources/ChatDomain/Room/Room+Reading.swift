package import ChatPrimitives

extension RoomEvent {
  package enum Reading: Sendable, Equatable {
    /// The user has read the room's timeline up to the message with this ordinal.
    case markerMoved(UserID, to: MessageID, ordinal: UInt64)
    /// The user wants this message and all after it shown as unread, until the marker moves the next time.
    case markedUnread(UserID, from: MessageID, ordinal: UInt64)
  }
}

extension RoomEvent.Reading: EventFamily {
  /// Who read is not a part of it: idempotency keys are looked up within one actor.
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

// MARK: - Decide

/// How far a member has read, and what of it the member wants shown as unread again.
extension RoomDecider {
  /// Markers only move forward. One that stands there already, or further on, answers with the message's own stamp:
  /// the marker cannot have come past the message before that, and where it was last moved is not kept. Under a key it
  /// is recorded all the same, for only so is its late retry known when something was marked as unread since.
  ///
  /// A move that reaches what was marked as unread is an event even where the marker stays, for it lifts the mark.
  static func moveReadMarker(
    _ id: MessageID, _ target: KnownMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    guard let target else { throw .messageNotFound }
    guard let member = try room(state).members[user] else { throw .roomNotFound }
    let liftsMark = member.unreadFrom.map { $0 <= target.place.ordinal } ?? false
    guard target.place.ordinal > member.marker || liftsMark || context.command != nil else {
      return .alreadyDone(target.sent)
    }
    return .record([.reading(.markerMoved(user, to: id, ordinal: target.place.ordinal))])
  }

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
  static func markUnread(
    _ id: MessageID, _ target: KnownMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    guard let target else { throw .messageNotFound }
    return .record([.reading(.markedUnread(user, from: id, ordinal: target.place.ordinal))])
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
