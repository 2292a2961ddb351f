package import ChatDomain
package import ChatPrimitives

/// Which messages a page contains.
package enum TimelineAnchor: Sendable, Hashable {
  /// The last messages of the room or thread.
  case newest
  /// The messages directly before this ordinal.
  case before(UInt64)
  /// The messages directly after this ordinal.
  case after(UInt64)
  /// The messages around this ordinal, including itself, with as many older as newer ones if possible.
  case around(UInt64)
}

/// Messages of one room or thread, oldest first, in one range of ordinals. A message always keeps its ordinal, and a
/// deleted message keeps its row. So consecutive pages neither skip nor repeat messages, whatever is written meanwhile.
package struct TimelinePage: Sendable, Hashable {
  package var messages: [MessageRow]
  /// The annotations by ordinal, without messages that have none.
  package var annotations: [UInt64: MessageAnnotations]
  /// The root of the thread; nil for the room's own timeline.
  package var threadID: MessageID?
  /// The profiles of the senders, of mentioned users and of the shown participants of threads.
  package var profiles: [UserID: Profile]
  /// The senders whom the reader blocks now.
  package var blockedSenders: Set<UserID> = []
  /// The ordinals that the page covers; nil for an empty one. In a thread, messages whose payload was erased are
  /// missing.
  package var run: ClosedRange<UInt64>?
  /// The ordinal for `.before` that leads to older messages: the first one, or the location of an empty page. Nil if
  /// there are no older messages.
  package var older: UInt64?
  /// The ordinal for `.after` that leads to newer messages. Nil if there are none in this snapshot.
  package var newer: UInt64?

  /// The messages, each with its annotations.
  package var shown: [ShownMessage] {
    messages.map {
      ShownMessage(
        row: $0, threadID: threadID, annotations: annotations[$0.ordinal] ?? MessageAnnotations(),
        isFromBlockedUser: blockedSenders.contains($0.sender))
    }
  }
}
