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

/// Messages of one room, oldest first, in one run of ordinals. A message keeps its ordinal for ever and a deleted one
/// keeps its row, so that pages that follow one another by ordinals neither skip nor repeat whatever is written
/// meanwhile.
package struct TimelinePage: Sendable, Hashable {
  package var messages: [MessageRow]
  /// The senders' nicknames.
  package var nicknames: [UserID: String]
  /// Whether there are messages before the first of the page; on an empty page, before its place.
  package var hasOlder: Bool
  /// Whether there are messages after the last of the page, in this snapshot.
  package var hasNewer: Bool

  /// The first message's ordinal: pass it as `.before` for the page with older ones.
  package var oldest: UInt64? { messages.first?.ordinal }
  /// The last message's ordinal: pass it as `.after` for the page with newer ones.
  package var newest: UInt64? { messages.last?.ordinal }
}
