package import ChatPrimitives

/// What a message refers to as it is sent, beside what it says. A plain one has none. Behind a reference, so that the
/// command of a plain message stays small.
package final class MessageReferences: Sendable {
  /// The root of the thread that it goes into; nil for the room's own timeline.
  package let thread: MessageID?
  /// The root; nil when the room has no such message.
  package let root: KnownMessage?
  /// The message that it answers, `MessageDetails.replyTo`; nil when the room has none of that ID.
  package let answered: KnownMessage?
  /// An attachment names no media that the author may use.
  package let lacksMedia: Bool

  package init(
    thread: MessageID? = nil, root: KnownMessage? = nil, answered: KnownMessage? = nil, lacksMedia: Bool = false
  ) {
    self.thread = thread
    self.root = root
    self.answered = answered
    self.lacksMedia = lacksMedia
  }
}

extension MessageReferences: Equatable {
  package static func == (left: MessageReferences, right: MessageReferences) -> Bool {
    left.thread == right.thread && left.root == right.root && left.answered == right.answered
      && left.lacksMedia == right.lacksMedia
  }
}
