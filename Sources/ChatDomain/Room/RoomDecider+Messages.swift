import ChatPrimitives

extension RoomDecider {
  /// A retry is known by the message as it was first sent, whatever became of it since.
  static func sendMessage(
    _ id: MessageID, _ content: MessageContent, _ fingerprint: Fingerprint, _ prior: MessageFacts?,
    _ context: SendingContext?, by act: Act, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let author = try actor(of: act)
    if let prior {
      guard prior.author == author, prior.fingerprint == fingerprint else { throw .idInUse }
      return .alreadyDone(prior.sent)
    }
    _ = try openRoom(state)
    try MessageRules.content(content)
    let thread = try threadPlace(context)
    try requireAnswerable(content, in: thread, context)
    guard context?.lacksMedia != true else { throw .mediaNotFound }
    return .record([.messageSent(id, author: author, thread: thread, content)])
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func editMessage(
    _ id: MessageID, _ edit: MessageEdit, _ target: MessageFacts?, in state: RoomState
  ) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    _ = try openRoom(state)
    try MessageRules.edit(edit, hasParts: target.hasParts)
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
}
