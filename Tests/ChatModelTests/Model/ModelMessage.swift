import ChatDomain
import ChatPrimitives

/// One message, in a room's own timeline or in a thread.
struct ModelMessage: Equatable {
  let id: MessageID
  let author: UserID
  let location: MessageLocation
  /// The root of its thread.
  let root: MessageID?
  /// Empty if the message is deleted.
  var text: String
  var replyTo: MessageID?
  var mentions = Mentions()
  /// The mentioned users who were members when the text was written.
  var mentioned: Set<UserID> = []
  /// The members who blocked the author when the message was sent. It does not count for them.
  var leftOut: Set<UserID> = []
  /// The members for whom the mention of everyone does not count.
  var unmentioned: Set<UserID> = []
  var attachments: [Attachment] = []
  var custom: CustomPart?
  /// Of the original message, even if it was changed since.
  var fingerprint: Fingerprint?
  let sent: Stamp
  let sentAt: Timestamp
  /// The position of its last change.
  var revision: LogPosition
  var editedAt: Timestamp?
  var deletedAt: Timestamp?
  /// Its texts before each edit, the oldest first.
  var history: [ModelRevision] = []
  /// In the order in which they were added.
  var reactions: [ModelReaction] = []
  /// Each with the position at which it was removed.
  var removedReactions: [ModelReaction] = []
  var pinned: ModelPin?

  var isDeleted: Bool { deletedAt != nil }

  func isMention(of user: UserID) -> Bool {
    mentions.everyone ? !unmentioned.contains(user) : mentioned.contains(user)
  }
}

/// The content of a message before an edit.
struct ModelRevision: Equatable {
  let text: String
  let mentions: Mentions
  /// When and where this text was written.
  let writtenAt: Timestamp
  let position: LogPosition
}

struct ModelReaction: Equatable {
  let emoji: String
  let user: UserID
  let position: LogPosition
  let at: Timestamp
}

struct ModelPin: Equatable {
  let by: UserID?
  let position: LogPosition
  let at: Timestamp
}

extension ModelMessage {
  mutating func edit(_ edit: MessageEdit?, _ recorded: RecordedEvent) {
    history.append(version)
    text = edit?.text ?? ""
    mentions = edit?.mentions ?? Mentions()
    editedAt = recorded.occurredAt
    revision = recorded.position
  }

  /// The current content.
  private var version: ModelRevision {
    ModelRevision(text: text, mentions: mentions, writtenAt: editedAt ?? sentAt, position: revision)
  }

  /// Every content that the message had, ending with the current one; empty if the message is deleted.
  var versions: [ModelRevision] { isDeleted ? [] : history + [version] }

  /// Removes the content and everything that belongs to the message except its thread.
  mutating func delete(_ recorded: RecordedEvent) {
    text = ""
    replyTo = nil
    mentions = Mentions()
    mentioned = []
    unmentioned = []
    attachments = []
    custom = nil
    history = []
    reactions = []
    pinned = nil
    deletedAt = recorded.occurredAt
    revision = recorded.position
  }
}
