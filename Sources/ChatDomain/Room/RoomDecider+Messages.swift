import ChatPrimitives

extension RoomDecider {
  /// A retry is known by the message as it was first sent, whatever became of it since.
  static func sendMessage(
    _ id: MessageID, _ content: MessageContent, _ fingerprint: Fingerprint, _ prior: MessageFacts?, by act: Act,
    in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let author = try actor(of: act)
    if let prior {
      guard prior.author == author, prior.fingerprint == fingerprint else { throw .idInUse }
      return .alreadyDone(prior.sent)
    }
    _ = try openRoom(state)
    try TextRules.message(content.text)
    return .record([.messageSent(id, author: author, thread: nil, content)])
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func editMessage(
    _ id: MessageID, _ edit: MessageEdit, _ target: MessageFacts?, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    _ = try openRoom(state)
    try TextRules.message(edit.text)
    return .record([.messageEdited(id, at: target.place, edit)])
  }

  /// Nothing follows a deletion, so the message's last revision is the deletion itself.
  static func deleteMessage(_ id: MessageID, _ target: MessageFacts?) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else {
      return .alreadyDone(Stamp(position: target.revision, time: target.revisedAt ?? target.sent.time))
    }
    return .record([.messageDeleted(id, at: target.place)])
  }

  /// Markers only move forward. One that stands there already, or further on, answers with the message's own stamp:
  /// the marker cannot have come past the message before that, and where it was last moved is not kept.
  static func moveReadMarker(
    _ id: MessageID, _ target: MessageFacts?, by act: Act, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    guard let target else { throw .messageNotFound }
    guard let member = try room(state).members[user] else { throw .roomNotFound }
    guard target.place.ordinal > member.marker else { return .alreadyDone(target.sent) }
    return .record([.readMarkerMoved(user, to: id, ordinal: target.place.ordinal)])
  }
}
