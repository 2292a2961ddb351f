package import ChatPrimitives

extension RoomEvent {
  package enum Messages: Sendable, Equatable {
    /// Takes the next ordinal of the room, or, in a thread, the one that it states, and moves the author's marker there.
    /// The content is nil when it was erased; of a message in a thread only `erased` is left then.
    case sent(MessageID, author: UserID, thread: ThreadLocation?, MessageContent?)
    /// The place is the one that the message was sent to, so that no consumer has to look up the message's ID. The same
    /// holds for the events below. The edit is nil when it was erased.
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
    case .edited(_, _, let edit): edit.map { $0.text.byteCount + entryBytes($0.mentions.users) } ?? 0
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
  /// Of a message as it is sent. The time is not a part of it: a retry comes later.
  /// - Parameter thread: the root of the thread that it goes into; nil for the room's own timeline.
  package static func message(
    _ content: MessageContent, author: UserID, thread: MessageID? = nil
  ) -> Fingerprint {
    let plain: [Field] = [.text("message.send"), .id(author.uuid), .text(content.text)]
    guard content.details != nil || thread != nil else { return Fingerprint(plain) }
    return Fingerprint(plain + [.id(thread?.uuid)] + fields(of: content.details ?? MessageDetails()))
  }

  /// What an uploaded file is known by stands for what is known of it.
  private static func fields(of details: MessageDetails) -> [Field] {
    [
      .id(details.replyTo?.uuid), .text(details.custom?.type), .text(details.custom?.body),
      .number(Int64(details.attachments.count)),
    ] + details.attachments.flatMap { [.id($0.media.uuid), .text($0.name)] } + fields(of: details.mentions)
  }

  static func fields(of mentions: Mentions) -> [Field] {
    [.number(mentions.everyone ? 1 : 0)] + mentions.users.map { .id($0.uuid) }
  }

  static func messageEdit(_ id: MessageID, _ edit: MessageEdit) -> Fingerprint {
    let plain: [Field] = [.text("message.edit"), .id(id.uuid), .text(edit.text)]
    return Fingerprint(edit.mentions.isEmpty ? plain : plain + fields(of: edit.mentions))
  }

  static func messageDeletion(_ id: MessageID) -> Fingerprint {
    Fingerprint(.text("message.delete"), .id(id.uuid))
  }
}

// MARK: - Decide

extension RoomDecider {
  /// A retry is known by the message as it was first sent, whatever became of it since.
  static func sendMessage(
    _ id: MessageID, _ content: MessageContent, _ fingerprint: Fingerprint, _ prior: KnownMessage?,
    _ references: MessageReferences?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let author = try actor(of: context)
    if let prior {
      guard prior.author == author, prior.fingerprint == fingerprint else { throw .idInUse }
      return .alreadyDone(prior.sent)
    }
    _ = try openRoom(state)
    try MessageRules.content(content)
    let thread = try threadLocation(references)
    try requireAnswerable(content, in: thread, references)
    guard references?.lacksMedia != true else { throw .mediaNotFound }
    return .record([.messages(.sent(id, author: author, thread: thread, content))])
  }

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
  static func editMessage(
    _ id: MessageID, _ edit: MessageEdit, _ target: KnownMessage?, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else { throw .messageDeleted }
    _ = try openRoom(state)
    try MessageRules.edit(edit, hasParts: target.hasParts)
    return .record([.messages(.edited(id, at: target.place, edit))])
  }

  /// Nothing follows a deletion, so the message's last revision is the deletion itself.
  static func deleteMessage(_ id: MessageID, _ target: KnownMessage?) throws(Rejection) -> Decision<RoomEvent> {
    guard let target else { throw .messageNotFound }
    guard !target.isDeleted else {
      return .alreadyDone(Stamp(position: target.revision, time: target.revisedAt ?? target.sent.time))
    }
    return .record([.messages(.deleted(id, at: target.place))])
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
