package import ChatPrimitives

extension RoomEvent {
  package enum Scheduling: Sendable, Equatable {
    case scheduled(MessageID, ScheduledMessage)
    case changed(MessageID, ScheduledMessageEdit)
    case cancelled(MessageID)
    /// The message was due and could not be sent.
    case failed(MessageID, SchedulingFailure)
  }
}

extension RoomEvent.Scheduling: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .scheduled(_, let message): .scheduling(message)
    case .changed(let id, let edit): .schedulingChange(id, edit)
    case .cancelled(let id): .schedulingCancellation(id)
    case .failed(let id, _): .schedulingFailure(id)
    }
  }

  var textBytes: Int {
    switch self {
    case .scheduled(_, let message): message.content.textBytes
    case .changed(_, let edit): edit.text.byteCount + entryBytes(edit.mentions?.users ?? [])
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
  /// Of a message as it is scheduled, its time included.
  package static func scheduling(_ message: ScheduledMessage) -> Fingerprint {
    Fingerprint(
      .text("message.schedule"), .number(message.sendAt.milliseconds),
      .id(Fingerprint.message(message.content, author: message.author, thread: message.thread).bytes))
  }

  static func schedulingChange(_ id: MessageID, _ edit: ScheduledMessageEdit) -> Fingerprint {
    Fingerprint(
      [.text("message.reschedule"), .id(id.uuid), .number(edit.sendAt?.milliseconds), .text(edit.text)]
        + (edit.mentions.map { fields(of: $0) } ?? []))
  }

  /// Only the server asks for it, and under no key: what keeps it from being done twice is that it waits no more.
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

// MARK: - Decide

/// Messages that the server sends at their time. Until then they are their author's alone to see, change and cancel;
/// their IDs stay taken for ever, whatever becomes of them.
extension RoomDecider {
  /// A retry is known by the message as it was first scheduled, whatever became of it since.
  static func schedule(
    _ id: MessageID, _ message: ScheduledMessage, _ prior: KnownScheduledMessage?, _ sent: KnownMessage?,
    _ references: MessageReferences?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let author = try actor(of: context)
    guard message.author == author else { throw .forbidden }
    if let prior {
      guard prior.author == author, prior.fingerprint == .scheduling(message) else { throw .idInUse }
      return .alreadyDone(prior.scheduled)
    }
    guard sent == nil else { throw .idInUse }
    let room = try openRoom(state)
    try MessageRules.content(message.content)
    try requireAnswerable(message.content, in: try threadLocation(references), references)
    guard references?.lacksMedia != true else { throw .mediaNotFound }
    try requireSendingTime(message.sendAt, after: context.time)
    guard room.scheduled.counts[author, default: 0] < Limits.scheduledMessagesPerUserAndRoom else {
      throw .tooManyScheduledMessages
    }
    return .record([.scheduling(.scheduled(id, message))])
  }

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
  static func changeScheduled(
    _ id: MessageID, _ edit: ScheduledMessageEdit, _ prior: KnownScheduledMessage?, by context: CommandContext,
    in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let waiting = try requirePending(id, prior, by: context, in: state)
    _ = try openRoom(state)
    if let text = edit.text { try MessageRules.text(text, hasParts: waiting.hasParts) }
    if let mentions = edit.mentions { try MessageRules.mentions(mentions) }
    if let sendAt = edit.sendAt { try requireSendingTime(sendAt, after: context.time) }
    return .record([.scheduling(.changed(id, edit))])
  }

  static func cancelScheduled(
    _ id: MessageID, _ prior: KnownScheduledMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    _ = try requirePending(id, prior, by: context, in: state)
    return .record([.scheduling(.cancelled(id))])
  }

  /// Sends a message that is due, or records why it cannot be sent. Either way it no longer waits, so it is sent at
  /// most once.
  /// - Parameters:
  ///   - message: as the scheduler looked it up.
  ///   - revision: the message's revision then.
  static func sendScheduled(
    _ id: MessageID, _ message: ScheduledMessage, revision: LogPosition, _ references: MessageReferences?,
    by context: CommandContext,
    in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let waiting = try room(state).scheduled[id] else { throw .scheduledMessageNotFound }
    guard waiting.author == context.actor else { throw .forbidden }
    guard waiting.sendAt <= context.time else { throw .sendingTimeOutOfRange }
    // The message was changed since the lookup: the scheduler looks it up again.
    guard waiting.revision == revision, message.thread == references?.thread else { throw .scheduledMessageNotFound }
    let isDisabled = directory.isDisabled(message.author)
    if let failure = failure(of: message, at: context.time, in: state) ?? (isDisabled ? .silenced : nil) {
      return .record([.scheduling(.failed(id, failure))])
    }
    do throws(Rejection) {
      let thread = try threadLocation(references)
      try requireAnswerable(message.content, in: thread, references)
      return .record([.messages(.sent(id, author: message.author, thread: thread, message.content))])
    } catch {
      return .record([.scheduling(.failed(id, .targetGone))])
    }
  }

  /// Why the message cannot be sent at its time; nil when it can.
  private static func failure(
    of message: ScheduledMessage, at time: Timestamp, in state: RoomState
  ) -> SchedulingFailure? {
    guard case .open(let room) = state else { return .roomClosed }
    guard let member = room.members[message.author] else { return .notAMember }
    if let until = member.silencedUntil, until > time { return .silenced }
    return nil
  }

  private static func requirePending(
    _ id: MessageID, _ prior: KnownScheduledMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> WaitingMessage {
    let author = try actor(of: context)
    if let waiting = try room(state).scheduled[id] {
      guard waiting.author == author else { throw .scheduledMessageNotFound }
      return waiting
    }
    guard prior?.author == author else { throw .scheduledMessageNotFound }
    throw .scheduledMessageSettled
  }

  private static func requireSendingTime(_ time: Timestamp, after now: Timestamp) throws(Rejection) {
    guard time > now, time <= now.adding(milliseconds: Limits.schedulingAheadMilliseconds) else {
      throw .sendingTimeOutOfRange
    }
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Scheduling, _ stamp: Stamp) {
    switch event {
    case .scheduled(let id, let message):
      scheduled[id] = WaitingMessage(message, revision: stamp.position)
    case .changed(let id, let edit):
      scheduled[id]?.apply(edit, at: stamp.position)
    case .cancelled(let id), .failed(let id, _):
      scheduled[id] = nil
    }
  }
}
