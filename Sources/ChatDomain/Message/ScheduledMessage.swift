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

/// Why a scheduled message was not sent at its time. The raw values stand in the log.
package enum SchedulingFailure: UInt8, Sendable, CaseIterable {
  /// The author was no member of the room any more.
  case notAMember = 1
  /// The room took no messages any more.
  case roomClosed = 2
  /// The author was forbidden to speak.
  case silenced = 3
  /// What it answers was deleted or is not there.
  case targetGone = 4
}
