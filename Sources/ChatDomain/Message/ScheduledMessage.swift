package import ChatPrimitives

/// A message that the server sends at its time.
package struct ScheduledMessage: Sendable, Hashable {
  package var author: UserID
  package var content: MessageContent
  /// The root of the thread that it goes into; nil for the room's own timeline.
  package var thread: MessageID?
  package var sendAt: Timestamp

  package init(author: UserID, content: MessageContent, thread: MessageID? = nil, sendAt: Timestamp) {
    self.author = author
    self.content = content
    self.thread = thread
    self.sendAt = sendAt
  }
}

/// What is put in the place of what in a message that waits for its time; nil leaves a part as it is.
package struct ScheduledMessageEdit: Sendable, Hashable {
  package var text: String?
  package var mentions: Mentions?
  package var sendAt: Timestamp?

  package init(text: String? = nil, mentions: Mentions? = nil, sendAt: Timestamp? = nil) {
    self.text = text
    self.mentions = mentions
    self.sendAt = sendAt
  }
}

extension ScheduledMessage {
  /// The message with an edit's parts in the place of its own.
  package func applying(_ edit: ScheduledMessageEdit) -> ScheduledMessage {
    var message = self
    if let sendAt = edit.sendAt { message.sendAt = sendAt }
    if let text = edit.text { message.content.text = text }
    if let mentions = edit.mentions { message.content.details = .edited(content.details, mentions) }
    return message
  }
}

/// What decisions need to know about a scheduled message that waits. Its content is not kept in memory, because it may
/// be long and wait for a year. The scheduler looks it up to send it.
package struct WaitingMessage: Sendable, Hashable {
  package let author: UserID
  package var sendAt: Timestamp
  /// Whether it has attachments or a custom part, beside which its text may be empty. No edit changes that.
  package let hasParts: Bool
  /// Where it was scheduled, or last changed.
  package var revision: LogPosition

  package init(_ message: ScheduledMessage, revision: LogPosition) {
    author = message.author
    sendAt = message.sendAt
    hasParts = message.content.hasParts
    self.revision = revision
  }

  mutating func apply(_ edit: ScheduledMessageEdit, at position: LogPosition) {
    if let sendAt = edit.sendAt { self.sendAt = sendAt }
    revision = position
  }
}

/// The messages of one room that wait for their time.
package struct ScheduledMessages: Sendable, Equatable {
  package private(set) var byID: [MessageID: WaitingMessage] = [:]
  /// How many each author has; nobody stands here with none.
  package private(set) var counts: [UserID: Int] = [:]

  package init() {}

  package init(_ byID: [MessageID: WaitingMessage]) {
    for (id, waiting) in byID { self[id] = waiting }
  }

  package var isEmpty: Bool { byID.isEmpty }

  package subscript(_ id: MessageID) -> WaitingMessage? {
    get { byID[id] }
    set {
      if let old = byID[id] {
        let left = counts[old.author, default: 1] - 1
        counts[old.author] = left > 0 ? left : nil
      }
      if let newValue { counts[newValue.author, default: 0] += 1 }
      byID[id] = newValue
    }
  }
}

/// What is known of an ID under which a message was scheduled, whatever became of that since.
package struct KnownScheduledMessage: Hashable, Sendable {
  package var author: UserID
  package var scheduled: Stamp
  /// Of the message as it was first scheduled; nil when that was erased, and then no retry can be recognised.
  package var fingerprint: Fingerprint?

  package init(author: UserID, scheduled: Stamp, fingerprint: Fingerprint?) {
    self.author = author
    self.scheduled = scheduled
    self.fingerprint = fingerprint
  }
}

/// Why a scheduled message was not sent at its time. The raw values stand in the log.
package enum SchedulingFailure: UInt8, Sendable, CaseIterable {
  /// The author was no member of the room any more.
  case notAMember = 1
  /// The room took no messages any more.
  case roomClosed = 2
  /// The author was forbidden to speak: in the room, or altogether, by the account's being disabled.
  case silenced = 3
  /// What it answers was deleted or is not there.
  case targetGone = 4

  package var name: String {
    switch self {
    case .notAMember: "not_a_member"
    case .roomClosed: "room_closed"
    case .silenced: "silenced"
    case .targetGone: "target_gone"
    }
  }
}
