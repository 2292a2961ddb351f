import ChatPrimitives

/// How far a member has read, and what of it the member wants shown as unread again.
extension RoomDecider {
  /// Markers only move forward. One that stands there already, or further on, answers with the message's own stamp:
  /// the marker cannot have come past the message before that, and where it was last moved is not kept. Under a key it
  /// is recorded all the same, for only so is its late retry known when something was marked as unread since.
  ///
  /// A move that reaches what was marked as unread is a fact even where the marker stays, for it lifts the mark.
  static func moveReadMarker(
    _ id: MessageID, _ target: MessageFacts?, by act: Act, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    guard let target else { throw .messageNotFound }
    guard let member = try room(state).members[user] else { throw .roomNotFound }
    let liftsMark = member.unreadFrom.map { $0 <= target.place.ordinal } ?? false
    guard target.place.ordinal > member.marker || liftsMark || act.command != nil else {
      return .alreadyDone(target.sent)
    }
    return .record([.readMarkerMoved(user, to: id, ordinal: target.place.ordinal)])
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func markUnread(
    _ id: MessageID, _ target: MessageFacts?, by act: Act, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    guard let target else { throw .messageNotFound }
    return .record([.markedUnread(user, from: id, ordinal: target.place.ordinal)])
  }
}
