package import ChatPrimitives

/// A message that the server sends at a given time.
package struct ScheduledMessage: Sendable, Hashable {
  package var author: UserID
  package var content: MessageContent
  /// The root of the thread that it is sent to; nil for the room's timeline.
  package var thread: MessageID?
  package var sendAt: Timestamp

  package init(author: UserID, content: MessageContent, thread: MessageID? = nil, sendAt: Timestamp) {
    self.author = author
    self.content = content
    self.thread = thread
    self.sendAt = sendAt
  }
}

/// The new parts of a scheduled message; nil leaves a part as it is.
package struct ScheduledMessageEdit: Sendable, Hashable {
  package var text: String?
  package var mentions: Mentions?
  package var sendAt: Timestamp?
  /// The new body of the custom part, in canonical JSON.
  package var customBody: String?

  package init(
    text: String? = nil, mentions: Mentions? = nil, sendAt: Timestamp? = nil, customBody: String? = nil
  ) {
    self.text = text
    self.mentions = mentions
    self.sendAt = sendAt
    self.customBody = customBody
  }
}

extension ScheduledMessage {
  /// The message after an edit.
  package func applying(_ edit: ScheduledMessageEdit) -> ScheduledMessage {
    var message = self
    if let sendAt = edit.sendAt { message.sendAt = sendAt }
    if let text = edit.text { message.content.text = text }
    if let mentions = edit.mentions { message.content.details = .mentioning(content.details, mentions) }
    if let customBody = edit.customBody {
      message.content.details = message.content.details?.replacing(customBody: customBody)
    }
    return message
  }
}

/// What decisions need to know about a waiting scheduled message. Its content is not kept in memory, because it may be
/// long and wait for a year. The scheduler looks it up when it sends the message.
package struct WaitingMessage: Sendable, Hashable {
  package let author: UserID
  package var sendAt: Timestamp
  /// Whether it has attachments or a custom part. If so, its text may be empty. No edit changes this.
  package let hasParts: Bool
  /// Whether it has a custom part, whose body an edit can replace. No edit changes this.
  package let isCustom: Bool
  /// The position where it was scheduled or last changed.
  package var revision: LogPosition

  package init(_ message: ScheduledMessage, revision: LogPosition) {
    author = message.author
    sendAt = message.sendAt
    hasParts = message.content.hasParts
    isCustom = message.content.details?.custom != nil
    self.revision = revision
  }

  mutating func apply(_ edit: ScheduledMessageEdit, at position: LogPosition) {
    if let sendAt = edit.sendAt { self.sendAt = sendAt }
    revision = position
  }
}

/// The scheduled messages of one room that wait to be sent.
package struct ScheduledMessages: Sendable, Equatable {
  package private(set) var byID: [MessageID: WaitingMessage] = [:]
  /// How many each author has. Authors without any are not in it.
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

/// What is known of an ID under which a message was ever scheduled, also if it was sent, cancelled or failed.
package struct KnownScheduledMessage: Hashable, Sendable {
  package var author: UserID
  package var scheduled: Stamp
  /// The fingerprint of the message as first scheduled. Nil if it was erased; then no retry can be recognised.
  package var fingerprint: Fingerprint?

  package init(author: UserID, scheduled: Stamp, fingerprint: Fingerprint?) {
    self.author = author
    self.scheduled = scheduled
    self.fingerprint = fingerprint
  }
}

/// Why a scheduled message was not sent. The raw values are in the log.
package enum SchedulingFailure: UInt8, Sendable, CaseIterable {
  /// The author was no longer a member of the room.
  case notAMember = 1
  /// The room no longer accepted messages.
  case roomClosed = 2
  /// The author was silenced in the room, or the author's account was disabled.
  case silenced = 3
  /// The message that it replies to was deleted or does not exist.
  case targetGone = 4
  /// In a direct room of two, one of the members blocks the other or does not accept direct messages.
  case directMessagesRefused = 5

  package var name: String {
    switch self {
    case .notAMember: "not_a_member"
    case .roomClosed: "room_closed"
    case .silenced: "silenced"
    case .targetGone: "target_gone"
    case .directMessagesRefused: "direct_messages_refused"
    }
  }
}
