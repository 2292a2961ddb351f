package import ChatPrimitives

/// What hangs from a message, as one reader sees it. Few messages have any of it.
package struct MessageAnnotations: Sendable, Hashable {
  /// nil where no thread hangs from the message.
  package var thread: ThreadSummary?
  /// The kind that came first comes first; at most `Limits.reactionKindsShown`.
  package var reactions: [ReactionSummary] = []
  package var isPinned = false

  var isEmpty: Bool { thread == nil && reactions.isEmpty && !isPinned }
}

package struct ThreadSummary: Sendable, Hashable {
  /// Deleted ones are not counted.
  package var replyCount: UInt64
  /// When the newest reply was sent, whatever became of it.
  package var lastReplyAt: Timestamp
  /// Those of whom a reply stands, by their first reply since they had none; at most
  /// `Limits.threadParticipantsShown`.
  package var participants: [UserID]
}

package struct ReactionSummary: Sendable, Hashable {
  package var emoji: String
  package var count: UInt64
  /// Whether the reader is among them.
  package var isMine: Bool
}

/// Who reacted with what.
package struct ReactionRow: Sendable, Hashable {
  package var emoji: String
  package var user: UserID
  package var position: LogPosition
  package var reactedAt: Timestamp
}

/// Reactions in the order in which they came.
package struct ReactionPage: Sendable, Hashable {
  package var reactions: [ReactionRow]
  package var nicknames: [UserID: String]
  /// Where the next page goes on; nil when there is none.
  package var next: LogPosition?
}

/// A message with what hangs from it, wherever in a room it stands.
package struct ShownMessage: Sendable, Hashable {
  package var row: MessageRow
  /// The root of the thread that it is in.
  package var threadID: MessageID?
  package var annotations: MessageAnnotations
}

package struct PinRow: Sendable, Hashable {
  package var message: ShownMessage
  package var position: LogPosition
  package var pinnedAt: Timestamp
  /// nil when a service did it for itself.
  package var pinnedBy: UserID?
}

/// Pins, the newest first.
package struct PinPage: Sendable, Hashable {
  package var pins: [PinRow]
  package var nicknames: [UserID: String]
  /// Where the next page goes on; nil when there is none.
  package var next: LogPosition?
}

/// One text that a message had or has.
package struct MessageVersion: Sendable, Hashable {
  package var text: String
  package var mentionedUsers: [UserID]
  package var mentionsEveryone: Bool
  package var writtenAt: Timestamp
  package var position: LogPosition
}

/// Versions of a message, oldest first; the newest is the one that it has now.
package struct MessageHistoryPage: Sendable, Hashable {
  package var versions: [MessageVersion]
  /// Where the next page goes on; nil when there is none.
  package var next: LogPosition?
}
