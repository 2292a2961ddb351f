package import ChatPrimitives

/// Where a page of messages lies.
package enum TimelineAnchor: Sendable, Hashable {
  /// The last messages of the room.
  case newest
  /// Those that end just before this ordinal.
  case before(UInt64)
  /// Those that begin just after this ordinal.
  case after(UInt64)
  /// Those around this ordinal, itself included, as many older as newer where there are so many.
  case around(UInt64)
}

/// Messages of one room or thread, oldest first, in one run of ordinals. A message always keeps its ordinal and a
/// deleted one keeps its row, so that pages that follow one another by ordinals neither skip nor repeat whatever is
/// written meanwhile.
package struct TimelinePage: Sendable, Hashable {
  package var messages: [MessageRow]
  /// What hangs from those of the messages that have any of it, by their ordinals.
  package var annotations: [UInt64: MessageAnnotations]
  /// The root of the thread; nil for the room's own timeline.
  package var threadID: MessageID?
  /// The nicknames of the senders, and of those whom the messages name.
  package var nicknames: [UserID: String]
  /// The ordinals that the page covers; nil for an empty one. In a thread a message whose payload was erased is missing.
  package var run: ClosedRange<UInt64>?
  /// What leads to older messages as `.before`: the first ordinal, or where an empty page lies; nil when there are none.
  package var older: UInt64?
  /// What leads to newer messages as `.after`; nil when there are none in this snapshot.
  package var newer: UInt64?

  /// The messages, each with what hangs from it.
  package var shown: [ShownMessage] {
    messages.map {
      ShownMessage(row: $0, threadID: threadID, annotations: annotations[$0.ordinal] ?? MessageAnnotations())
    }
  }
}
