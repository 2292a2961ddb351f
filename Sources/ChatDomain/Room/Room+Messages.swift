package import ChatPrimitives

extension RoomEvent {
  package enum Messages: Sendable, Equatable {
    /// The message gets the next ordinal of the room, or the ordinal in `thread`, and moves the author's read marker
    /// there. The content is nil if it was erased. The codec reads an erased message in a thread as `RoomEvent.erased`;
    /// the log's reader then finds the thread, see `ErasedReplies`.
    case sent(MessageID, author: UserID, thread: ThreadLocation?, MessageContent?)
    /// Has the message's location, so that no consumer has to look it up. So do later events about the message. The
    /// codec reads an erased edit as `RoomEvent.erased`, not as a nil edit.
    case edited(MessageID, at: MessageLocation, MessageEdit?)
    case deleted(MessageID, at: MessageLocation)
  }
}

extension RoomEvent.Messages: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .sent(_, let author, let thread, let content):
      content.map { .message($0, author: author, thread: thread?.root.message) }
    case .edited(let id, _, let edit): edit.map { .messageEdit(id, $0) }
    case .deleted(let id, _): .messageDeletion(id)
    }
  }

  var textBytes: Int {
    switch self {
    case .sent(_, _, _, let content): content?.textBytes ?? 0
    case .edited(_, _, let edit):
      edit.map { $0.text.byteCount + $0.customBody.byteCount + entryBytes($0.mentions.users) } ?? 0
    case .deleted: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .sent, .edited: false
    case .deleted: true
    }
  }
}

extension Fingerprint {
  /// The fingerprint of a message that is sent. Excludes the time, because a retry comes later, and the files' content.
  package static func message(_ message: NewMessage, author: UserID?) -> Fingerprint {
    let plain: [Field] = [.text("message.send"), .id(author?.uuid), .text(message.text)]
    guard !message.isPlain || message.thread != nil else { return Fingerprint(plain) }
    let parts: [Field] = [
      .id(message.thread?.uuid), .id(message.replyTo?.uuid), .text(message.custom?.type), .text(message.custom?.body),
      .number(Int64(message.attachments.count)),
    ]
    let all =
      plain + parts + message.attachments.flatMap { [.id($0.media.uuid), .text($0.name)] }
      + fields(of: message.mentions)
    return Fingerprint(message.custom?.isSilent == true ? all + [.text("silent")] : all)
  }

  /// - Parameter thread: the root of the thread that it was sent to; nil for the room's timeline.
  package static func message(
    _ content: MessageContent, author: UserID, thread: MessageID? = nil
  ) -> Fingerprint {
    message(NewMessage(content, thread: thread), author: author)
  }

  static func fields(of mentions: Mentions) -> [Field] {
    [.number(mentions.everyone ? 1 : 0)] + mentions.users.map { .id($0.uuid) }
  }

  static func messageEdit(_ id: MessageID, _ edit: MessageEdit) -> Fingerprint {
    if let customBody = edit.customBody {
      return Fingerprint(
        [.text("message.edit-data"), .id(id.uuid), .text(edit.text), .text(customBody)] + fields(of: edit.mentions))
    }
    let plain: [Field] = [.text("message.edit"), .id(id.uuid), .text(edit.text)]
    return Fingerprint(edit.mentions.isEmpty ? plain : plain + fields(of: edit.mentions))
  }

  static func messageDeletion(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.delete"), .id(id.uuid))
  }
}

// MARK: - Commands

extension RoomCommand {
  package enum Messages: Sendable, Equatable {
    case send(MessageID, NewMessage)
    case edit(MessageID, MessageEdit)
    case delete(MessageID)
  }
}

extension RoomCommand.Messages: AggregateCommand {
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .send(_, let message): .message(message, author: actor)
    case .edit(let id, let edit): .messageEdit(id, edit)
    case .delete(let id): .messageDeletion(id)
    }
  }

  package var isKnownByItself: Bool {
    switch self {
    case .send: true
    case .edit, .delete: false
    }
  }

  package var fieldFlaws: [FieldFlaw] {
    switch self {
    case .send(_, let message): MessageRules.flaws(of: message)
    case .edit(_, let edit): MessageRules.flaws(of: edit)
    case .delete: []
    }
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .send(let id, let message):
      lookup.addKeys(of: message, as: id, in: room)
    case .edit(let id, _), .delete(let id):
      lookup.messages = [MessageKey(room: room, message: id)]
    }
  }
}

extension Lookup {
  /// The new message's ID may be in use, also by a scheduled message. The message may refer to others.
  mutating func addKeys(of message: NewMessage, as id: MessageID, in room: RoomID) {
    let key = MessageKey(room: room, message: id)
    scheduled = [key]
    messages = [key]
    for referred in [message.thread, message.replyTo] {
      if let referred { messages.append(MessageKey(room: room, message: referred)) }
    }
  }
}

// MARK: - Decide

extension RoomDecider {
  func decide(
    _ command: RoomCommand.Messages, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .send(let id, let message): try send(id, message, directory)
    case .edit(let id, let edit): try editMessage(id, edit, directory)
    case .delete(let id): try deleteMessage(id, directory)
    }
  }

  /// A retry is recognised by the message as it was first sent, also after an edit or a deletion. A service may retry
  /// it after the author has left, for example in an import that runs again. A deleted room rejects it with 404.
  private func send(
    _ id: MessageID, _ message: NewMessage, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    _ = try room()
    let earlier = known.messages[messageKey(id)]
    let isRepeat = earlier.map { $0.author == context.actor && $0.fingerprint == basis.fingerprint } ?? false
    if !(context.isByService && isRepeat) { try requireVoice(directory) }
    if let earlier {
      guard isRepeat else { throw .idInUse }
      return .alreadyDone(earlier.sent)
    }
    guard known.scheduled[messageKey(id)] == nil else { throw .idInUse }
    _ = try openRoom()
    try MessageRules.message(message)
    let thread = try threadLocation(in: message.thread)
    let answered = try requireAnswerable(message.replyTo, from: thread)
    let content = try message.content(with: known.media).replying(at: answered)
    return .record([.messages(.sent(id, author: try actor(), thread: thread, content))])
  }

  /// Only the author can edit the text, and the body of a custom part. Recorded even when nothing changes: the event has the idempotency key by which a late
  /// retry is recognised.
  private func editMessage(
    _ id: MessageID, _ edit: MessageEdit, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireVoice(directory)
    let target = try message(id)
    guard target.author == context.actor else { throw .forbidden }
    if let done = try doneBefore() { return done }
    guard !target.isDeleted else { throw .messageDeleted }
    _ = try openRoom()
    try MessageRules.edit(edit, of: target)
    return .record([.messages(.edited(id, at: target.location, edit))], revision: target.revision)
  }

  /// The author can delete, and so can administrators and services. No event changes a deleted message, so its last
  /// revision is the deletion.
  private func deleteMessage(
    _ id: MessageID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let roomActor = try roomActor()
    let target = try message(id)
    if case .member(let user, _) = roomActor, target.author != user {
      guard try authority(directory).highestRole >= .administrator else { throw .forbidden }
    }
    if let done = try doneBefore() { return done }
    guard !target.isDeleted else {
      return .alreadyDone(Stamp(position: target.revision, time: target.revisedAt ?? target.sent.time))
    }
    return .record([.messages(.deleted(id, at: target.location))], revision: target.revision)
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Messages) {
    switch event {
    case .sent(let id, let author, let thread, _):
      if !scheduled.isEmpty { scheduled[id] = nil }
      guard thread == nil else { return }
      lastOrdinal += 1
      let ordinal = lastOrdinal
      members.change(author) {
        $0.marker = ordinal
        $0.unreadFrom = nil
      }
    case .deleted(let id, _):
      if !pinned.isEmpty { pinned[id] = nil }
    case .edited:
      break
    }
  }
}
