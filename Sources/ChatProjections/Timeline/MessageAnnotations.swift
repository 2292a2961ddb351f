package import ChatDomain
package import ChatPrimitives

/// The quote, the thread, the reactions and the pin of a message, as one reader sees them. Most messages have none.
package struct MessageAnnotations: Sendable, Hashable {
  /// Nil if the message has no thread.
  package var thread: ThreadSummary?
  /// Ordered by the first reaction with each emoji; at most `Limits.reactionKindsShown`.
  package var reactions: [ReactionSummary] = []
  package var isPinned = false
  /// Nil if the message is not a reply, or if there is nothing to quote.
  package var quote: QuotedMessage?
}

package struct ThreadSummary: Sendable, Hashable {
  /// Does not count deleted replies.
  package var replyCount: UInt64
  /// When the newest reply was sent, even if it was deleted.
  package var lastReplyAt: Timestamp
  /// The users with a reply that is not deleted, ordered by the first reply since they last had none; at most
  /// `Limits.threadParticipantsShown`.
  package var participants: [UserID]
}

package struct ReactionSummary: Sendable, Hashable {
  package var emoji: String
  package var count: UInt64
  /// Whether the reader reacted with this emoji.
  package var isMine: Bool
}

/// One user's reaction.
package struct ReactionRow: Sendable, Hashable {
  package var emoji: String
  package var user: UserID
  package var position: LogPosition
  package var reactedAt: Timestamp
}

/// Reactions in the order in which they were added.
package struct ReactionPage: Sendable, Hashable {
  package var reactions: [ReactionRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// A message with its annotations, from a room's own timeline or a thread.
package struct ShownMessage: Sendable, Hashable {
  package var row: MessageRow
  /// The root of the message's thread; nil in the room's own timeline.
  package var threadID: MessageID?
  package var annotations: MessageAnnotations
  /// Whether the reader blocks the sender now.
  package var isFromBlockedUser = false
}

package struct PinRow: Sendable, Hashable {
  package var message: ShownMessage
  package var position: LogPosition
  package var pinnedAt: Timestamp
  /// Nil if a service pinned the message on its own behalf.
  package var pinnedBy: UserID?
}

/// Pins, newest first.
package struct PinPage: Sendable, Hashable {
  package var pins: [PinRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// The current text of a message, or an earlier one.
package struct MessageVersion: Sendable, Hashable {
  package var text: String
  package var mentions: Mentions
  /// The body of the custom part; nil if the message has none.
  package var customBody: String?
  package var writtenAt: Timestamp
  package var position: LogPosition
}

/// Versions of a message, oldest first. The last version is the current one.
package struct MessageHistoryPage: Sendable, Hashable {
  package var versions: [MessageVersion]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}
