import ChatDomain
import ChatPrimitives
import ChatProjections

/// The stored fields of a message, the same from the model and from a read model.
struct SeenMessage: Equatable {
  let id: MessageID
  let location: MessageLocation
  let sender: UserID
  let text: String
  let replyTo: MessageID?
  let mentions: Mentions
  let attachments: [Attachment]
  let custom: CustomPart?
  let sentAt: Timestamp
  let position: LogPosition
  let revision: LogPosition
  let editedAt: Timestamp?
  let deletedAt: Timestamp?

  init(_ message: ModelMessage) {
    id = message.id
    location = message.location
    sender = message.author
    text = message.text
    replyTo = message.replyTo
    mentions = message.mentions
    attachments = message.attachments
    custom = message.custom
    sentAt = message.sentAt
    position = message.sent.position
    revision = message.revision
    editedAt = message.editedAt
    deletedAt = message.deletedAt
  }

  init(_ row: MessageRow) {
    id = row.id
    location = row.location
    sender = row.sender
    text = row.text
    replyTo = row.details?.replyTo
    mentions = row.details?.mentions ?? Mentions()
    attachments = row.details?.attachments ?? []
    custom = row.details?.custom
    sentAt = row.sentAt
    position = row.position
    revision = row.revision
    editedAt = row.editedAt
    deletedAt = row.deletedAt
  }
}

/// A message with its reactions, thread and pin, as one reader sees it.
struct SeenPost: Equatable {
  struct Thread: Equatable {
    let replies: Int
    let lastReplyAt: Timestamp?
    let participants: [UserID]
  }
  struct Reaction: Equatable {
    let emoji: String
    let count: Int
    let isMine: Bool
  }

  let message: SeenMessage
  let root: MessageID?
  let thread: Thread?
  let reactions: [Reaction]
  let isPinned: Bool
  let isFromBlockedUser: Bool

  init(_ message: ModelMessage, in room: ModelRoom, for reader: UserID, _ model: ChatModel) {
    self.message = SeenMessage(message)
    root = message.root
    let replies = room.thread(of: message.id)
    thread =
      replies.isEmpty
      ? nil
      : Thread(
        replies: replies.count { !$0.isDeleted }, lastReplyAt: replies.last?.sentAt,
        participants: Array(room.participants(of: message.id).prefix(Limits.threadParticipantsShown)))
    reactions = inOrder(message.reactions.map(\.emoji)).prefix(Limits.reactionKindsShown).map { emoji in
      let those = message.reactions.filter { $0.emoji == emoji }
      return Reaction(emoji: emoji, count: those.count, isMine: those.contains { $0.user == reader })
    }
    isPinned = message.pinned != nil
    isFromBlockedUser = model.users[reader]?.blocks(message.author) == true
  }

  init(_ shown: ShownMessage) {
    message = SeenMessage(shown.row)
    root = shown.threadID
    thread = shown.annotations.thread.map { summary in
      Thread(
        replies: Int(summary.replyCount), lastReplyAt: summary.lastReplyAt, participants: summary.participants)
    }
    reactions = shown.annotations.reactions.map { Reaction(emoji: $0.emoji, count: Int($0.count), isMine: $0.isMine) }
    isPinned = shown.annotations.isPinned
    isFromBlockedUser = shown.isFromBlockedUser
  }
}

/// The distinct elements, in the order of their first occurrences.
private func inOrder<T: Hashable>(_ all: [T]) -> [T] {
  var seen: Set<T> = []
  return all.filter { seen.insert($0).inserted }
}
