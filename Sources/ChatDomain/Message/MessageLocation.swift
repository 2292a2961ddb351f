package import ChatPrimitives

/// Where a message is in its room. Each thread counts its messages separately.
package struct MessageLocation: Sendable, Hashable, Comparable {
  /// The ordinal of the thread's root; zero for the room's own timeline.
  package var thread: UInt64
  /// From 1, without gaps.
  package var ordinal: UInt64

  package init(thread: UInt64, ordinal: UInt64) {
    self.thread = thread
    self.ordinal = ordinal
  }

  /// A location in the room's timeline.
  package static func room(_ ordinal: UInt64) -> MessageLocation { MessageLocation(thread: 0, ordinal: ordinal) }

  package var isInThread: Bool { thread != 0 }

  package static func < (left: MessageLocation, right: MessageLocation) -> Bool {
    left.thread == right.thread ? left.ordinal < right.ordinal : left.thread < right.thread
  }
}

/// The message that a thread starts from, which is in the room's timeline.
package struct ThreadRoot: Sendable, Hashable {
  package var message: MessageID
  /// The ordinal of the root in the room's timeline.
  package var ordinal: UInt64

  package init(message: MessageID, ordinal: UInt64) {
    self.message = message
    self.ordinal = ordinal
  }
}

/// Where a message is in a thread. It includes the ordinal, so that the ordinals of later messages do not change when
/// its payload is erased.
package struct ThreadLocation: Sendable, Hashable {
  package var root: ThreadRoot
  /// The author of the root, who follows the thread. It is in the event because no reader of events keeps the author of
  /// every message.
  package var rootAuthor: UserID
  /// From 1.
  package var ordinal: UInt64

  package init(root: ThreadRoot, rootAuthor: UserID, ordinal: UInt64) {
    self.root = root
    self.rootAuthor = rootAuthor
    self.ordinal = ordinal
  }

  package var location: MessageLocation { MessageLocation(thread: root.ordinal, ordinal: ordinal) }
}
