package import ChatPrimitives

/// Where a message stands in its room. Threads have ordinals of their own.
package struct MessageLocation: Sendable, Hashable, Comparable {
  /// The ordinal of the thread's root; zero for the room's own timeline.
  package var thread: UInt64
  /// From 1, without gaps.
  package var ordinal: UInt64

  package init(thread: UInt64, ordinal: UInt64) {
    self.thread = thread
    self.ordinal = ordinal
  }

  /// In the room's own timeline.
  package static func room(_ ordinal: UInt64) -> MessageLocation { MessageLocation(thread: 0, ordinal: ordinal) }

  package var isInThread: Bool { thread != 0 }

  package static func < (left: MessageLocation, right: MessageLocation) -> Bool {
    left.thread == right.thread ? left.ordinal < right.ordinal : left.thread < right.thread
  }
}

/// The message that a thread hangs from: one of the room's own timeline.
package struct ThreadRoot: Sendable, Hashable {
  package var message: MessageID
  /// Its place in the room's timeline.
  package var ordinal: UInt64

  package init(message: MessageID, ordinal: UInt64) {
    self.message = message
    self.ordinal = ordinal
  }
}

/// Where a message stands in a thread. It says its own ordinal, so that those of later messages stay what they are when
/// its payload is erased.
package struct ThreadLocation: Sendable, Hashable {
  package var root: ThreadRoot
  /// Who wrote the root, and so follows the thread. Stands in the event because no reader of events keeps every
  /// message's author.
  package var rootAuthor: UserID
  /// From 1.
  package var ordinal: UInt64

  package init(root: ThreadRoot, rootAuthor: UserID, ordinal: UInt64) {
    self.root = root
    self.rootAuthor = rootAuthor
    self.ordinal = ordinal
  }

  package var place: MessageLocation { MessageLocation(thread: root.ordinal, ordinal: ordinal) }
}
