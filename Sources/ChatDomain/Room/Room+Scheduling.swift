package import ChatPrimitives

extension RoomEvent {
  package enum Scheduling: Sendable, Equatable {
    /// The message is nil if it was erased. Its author is the actor.
    case scheduled(MessageID, ScheduledMessage?)
    case changed(MessageID, ScheduledMessageEdit)
    case cancelled(MessageID)
    /// The message was due and could not be sent.
    case failed(MessageID, SchedulingFailure)
  }
}

extension RoomEvent.Scheduling: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .scheduled(_, let message): message.map { .scheduling($0) }
    case .changed(let id, let edit): .schedulingChange(id, edit)
    case .cancelled(let id): .schedulingCancellation(id)
    case .failed(let id, _): .schedulingFailure(id)
    }
  }

  var textBytes: Int {
    switch self {
    case .scheduled(_, let message): message?.content.textBytes ?? 0
    case .changed(_, let edit): edit.text.byteCount + edit.customBody.byteCount + entryBytes(edit.mentions?.users ?? [])
    case .cancelled, .failed: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .cancelled: true
    case .scheduled, .changed, .failed: false
    }
  }
}

extension Fingerprint {
  /// The fingerprint of a message that is scheduled. Includes its sending time.
  static func scheduling(_ message: NewMessage, author: UserID?, at time: Timestamp) -> Fingerprint {
    Fingerprint(
      .text("message.schedule"), .number(time.milliseconds), .id(Fingerprint.message(message, author: author).bytes))
  }

  package static func scheduling(_ message: ScheduledMessage) -> Fingerprint {
    scheduling(NewMessage(message.content, thread: message.thread), author: message.author, at: message.sendAt)
  }

  static func schedulingChange(_ id: MessageID, _ edit: ScheduledMessageEdit) -> Fingerprint {
    Fingerprint(
      [.text("message.reschedule"), .id(id.uuid), .number(edit.sendAt?.milliseconds), .text(edit.text)]
        + (edit.mentions.map { fields(of: $0) } ?? [])
        + (edit.customBody.map { [.text("data"), .text($0)] } ?? []))
  }

  /// Only the server sends this, and without a key: a message is sent once, because it no longer waits after that.
  static func scheduledSending(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.send-scheduled"), .id(id.uuid))
  }

  static func schedulingCancellation(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.unschedule"), .id(id.uuid))
  }

  static func schedulingFailure(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.schedule-failed"), .id(id.uuid))
  }
}

// MARK: - Commands

extension RoomCommand {
  package enum Scheduling: Sendable, Equatable {
    case schedule(MessageID, NewMessage, at: Timestamp)
    case change(MessageID, ScheduledMessageEdit)
    case cancel(MessageID)
    /// The server sends a message that is due, in the author's name.
    /// - revision: the message's revision when the scheduler read it.
    case send(MessageID, ScheduledMessage, revision: LogPosition)
  }
}

extension RoomCommand.Scheduling: AggregateCommand {
  /// The server's own command is the exception: it has no key, and records what an earlier command said.
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .schedule(_, let message, let time): .scheduling(message, author: actor, at: time)
    case .change(let id, let edit): .schedulingChange(id, edit)
    case .cancel(let id): .schedulingCancellation(id)
    case .send(let id, _, _): .scheduledSending(id)
    }
  }

  package var isKnownByItself: Bool {
    switch self {
    case .schedule: true
    case .change, .cancel, .send: false
    }
  }

  package var fieldFlaws: [FieldFlaw] {
    switch self {
    case .schedule(_, let message, _): MessageRules.flaws(of: message)
    case .change(_, let edit): MessageRules.flaws(of: edit)
    case .cancel, .send: []
    }
  }

  /// The flaws of its fields, and then that of its time.
  /// - Parameter time: that of the command.
  package func fieldFlaws(at time: Timestamp) -> [FieldFlaw] {
    let sendAt: Timestamp? =
      switch self {
      case .schedule(_, _, let sendAt): sendAt
      case .change(_, let edit): edit.sendAt
      case .cancel, .send: nil
      }
    var fields = FieldCheck()
    if let sendAt {
      fields.check("/sendAt") { () throws(Rejection) in try MessageRules.sendingTime(sendAt, at: time) }
    }
    return fieldFlaws + fields.flaws
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .schedule(let id, let message, _):
      lookup.addKeys(of: message, as: id, in: room)
    case .change(let id, _), .cancel(let id):
      lookup.scheduled = [MessageKey(room: room, message: id)]
    case .send(_, let message, _):
      lookup.messages = [message.thread, message.content.details?.replyTo].compactMap {
        $0.map { MessageKey(room: room, message: $0) }
      }
    }
  }
}

// MARK: - Decide

/// Messages that the server sends at a given time. Before that, only the author can see, change and cancel them. Their
/// IDs stay in use permanently, also when they are cancelled or fail.
extension RoomDecider {
  func decide(
    _ command: RoomCommand.Scheduling, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .schedule(let id, let message, let time): try schedule(id, message, at: time, directory)
    case .change(let id, let edit): try changeScheduled(id, edit)
    case .cancel(let id): try cancelScheduled(id)
    case .send(let id, let message, let revision): try sendScheduled(id, message, revision: revision, directory)
    }
  }

  /// A retry is recognised by the message as it was first scheduled, also after a change, a failure or its sending.
  private func schedule(
    _ id: MessageID, _ message: NewMessage, at time: Timestamp, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireVoice(directory)
    let author = try actor()
    if let earlier = known.scheduled[messageKey(id)] {
      guard earlier.author == author, earlier.fingerprint == basis.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.scheduled)
    }
    guard known.messages[messageKey(id)] == nil else { throw .idInUse }
    let room = try openRoom()
    try MessageRules.message(message)
    try requireAnswerable(message.replyTo, from: try threadLocation(in: message.thread))
    let content = try message.content(with: known.media)
    try requireSendingTime(time)
    guard room.scheduled.counts[author, default: 0] < Limits.scheduledMessagesPerUserAndRoom else {
      throw .tooManyScheduledMessages
    }
    let scheduled = ScheduledMessage(author: author, content: content, thread: message.thread, sendAt: time)
    return .record([.scheduling(.scheduled(id, scheduled))])
  }

  /// Recorded even when nothing changes: the event has the idempotency key by which a late retry is recognised.
  private func changeScheduled(_ id: MessageID, _ edit: ScheduledMessageEdit) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    if let done = try doneBefore() { return done }
    let waiting = try waitingMessage(id)
    _ = try openRoom()
    if let text = edit.text { try MessageRules.text(text, hasParts: waiting.hasParts) }
    try MessageRules.flaws(of: edit).requireNone()
    guard edit.customBody == nil || waiting.isCustom else { throw .customTypeMissing }
    if let sendAt = edit.sendAt { try requireSendingTime(sendAt) }
    return .record([.scheduling(.changed(id, edit))], revision: waiting.revision)
  }

  /// The author can cancel even after leaving the room. Otherwise a message scheduled before would be sent after the
  /// author has been added again.
  private func cancelScheduled(_ id: MessageID) throws(Rejection) -> Decision<RoomEvent> {
    let author = try room().scheduled[id]?.author ?? known.scheduled[messageKey(id)]?.author
    if author == nil || author != context.actor { try requireMember() }
    if let done = try doneBefore() { return done }
    let waiting = try waitingMessage(id)
    return .record([.scheduling(.cancelled(id))], revision: waiting.revision)
  }

  /// Sends a message that is due, or records why it cannot be sent. Either way it no longer waits, so it is sent at
  /// most once.
  private func sendScheduled(
    _ id: MessageID, _ message: ScheduledMessage, revision: LogPosition, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard context.isByService else { throw .serviceOnly }
    let room = try room()
    if let done = try doneBefore() { return done }
    guard let waiting = room.scheduled[id] else { throw .scheduledMessageNotFound }
    guard waiting.author == context.actor else { throw .forbidden }
    guard waiting.sendAt <= context.time else { throw .sendingTimeOutOfRange }
    // If the message has changed since the scheduler read it, the scheduler reads it again.
    guard waiting.revision == revision else { throw .scheduledMessageNotFound }
    if let failure = failure(of: message, directory) { return .record([.scheduling(.failed(id, failure))]) }
    do throws(Rejection) {
      let thread = try threadLocation(in: message.thread)
      let answered = try requireAnswerable(message.content.details?.replyTo, from: thread)
      let content = message.content.replying(at: answered)
      return .record([.messages(.sent(id, author: message.author, thread: thread, content))])
    } catch {
      return .record([.scheduling(.failed(id, .targetGone))])
    }
  }

  /// Why the message cannot be sent; nil if it can.
  private func failure(
    of message: ScheduledMessage, _ directory: borrowing some Directory
  ) -> SchedulingFailure? {
    guard case .open(let room) = state else { return .roomClosed }
    guard let member = room.members[message.author] else { return .notAMember }
    if let until = member.silencedUntil, until > context.time { return .silenced }
    if directory.isDisabled(message.author) { return .silenced }
    return refusesDirectMessages(room, directory) ? .directMessagesRefused : nil
  }

  /// A message of the actor that waits to be sent.
  /// - Throws: `scheduledMessageSettled` if it was sent, cancelled or failed.
  private func waitingMessage(_ id: MessageID) throws(Rejection) -> WaitingMessage {
    let author = try actor()
    if let waiting = try room().scheduled[id] {
      guard waiting.author == author else { throw .scheduledMessageNotFound }
      return waiting
    }
    guard known.scheduled[messageKey(id)]?.author == author else { throw .scheduledMessageNotFound }
    throw .scheduledMessageSettled
  }

  private func requireSendingTime(_ time: Timestamp) throws(Rejection) {
    try MessageRules.sendingTime(time, at: context.time)
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Scheduling, _ stamp: Stamp) {
    switch event {
    case .scheduled(let id, let message?):
      scheduled[id] = WaitingMessage(message, revision: stamp.position)
    case .scheduled(_, nil): break
    case .changed(let id, let edit):
      scheduled[id]?.apply(edit, at: stamp.position)
    case .cancelled(let id), .failed(let id, _):
      scheduled[id] = nil
    }
  }
}
