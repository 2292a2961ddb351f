public import ChatPrimitives

/// The summary of the thread that starts at a message.
public struct MessageThread: Codable, Sendable, Hashable {
  /// Deleted replies are not counted.
  public var replyCount: Int
  public var lastReplyAt: Timestamp
  /// The users who replied first, at most five.
  public var participants: [UserID]

  public init(replyCount: Int, lastReplyAt: Timestamp, participants: [UserID]) {
    self.replyCount = replyCount
    self.lastReplyAt = lastReplyAt
    self.participants = participants
  }
}

/// What a reply shows of the message that it replies to, as that message is now.
public struct MessageQuote: Codable, Sendable, Hashable {
  public var senderId: UserID
  /// At most `Limits.quotedTextBytes` long.
  public var text: String
  /// Whether the message has more text.
  public var isCut: Bool
  /// The first file of the message; absent if it has none.
  public var attachment: MessageAttachment?
  /// The app's own type; absent if the message has none.
  public var type: String?

  public init(senderId: UserID, text: String, isCut: Bool, attachment: MessageAttachment?, type: String?) {
    self.senderId = senderId
    self.text = text
    self.isCut = isCut
    self.attachment = attachment
    self.type = type
  }
}

/// Whom a message mentions.
public struct MessageMentions: Codable, Sendable, Hashable {
  /// In the order of their IDs.
  public var users: [UserID]
  public var everyone: Bool

  public init(users: [UserID], everyone: Bool) {
    self.users = users
    self.everyone = everyone
  }
}

/// A file that is attached to a message.
public struct MessageAttachment: Codable, Sendable, Hashable {
  public var mediaId: MediaID
  @Nullable public var name: String?
  public var contentType: String
  /// In bytes.
  public var size: UInt64
  /// In pixels; null if it is not an image.
  @Nullable public var width: Int?
  @Nullable public var height: Int?

  public init(mediaId: MediaID, name: String?, contentType: String, size: UInt64, width: Int?, height: Int?) {
    self.mediaId = mediaId
    self.name = name
    self.contentType = contentType
    self.size = size
    self.width = width
    self.height = height
  }
}

/// How many users reacted with one emoji.
public struct MessageReaction: Codable, Sendable, Hashable {
  public var emoji: String
  public var count: Int
  /// Whether the caller is one of them.
  public var me: Bool

  public init(emoji: String, count: Int, me: Bool) {
    self.emoji = emoji
    self.count = count
    self.me = me
  }
}

/// The receipt for adding and removing a reaction.
public struct ReactionReceipt: ResponseObject {
  public var roomId: RoomID
  public var messageId: MessageID
  public var emoji: String
  public var position: LogPosition

  public init(roomId: RoomID, messageId: MessageID, emoji: String, position: LogPosition) {
    self.roomId = roomId
    self.messageId = messageId
    self.emoji = emoji
    self.position = position
  }
}

/// One user's reaction.
public struct ReactionEntry: Codable, Sendable, Hashable {
  public var emoji: String
  public var user: User
  public var reactedAt: Timestamp

  public init(emoji: String, user: User, reactedAt: Timestamp) {
    self.emoji = emoji
    self.user = user
    self.reactedAt = reactedAt
  }
}

/// `GET /v1/rooms/{roomId}/messages/{messageId}/reactions`: in the order in which they were added.
public struct ReactionList: ListObject {
  public var reactions: [ReactionEntry]
  @Nullable public var nextCursor: String?

  public init(reactions: [ReactionEntry], nextCursor: String?) {
    self.reactions = reactions
    self.nextCursor = nextCursor
  }
}

/// The contents of a message between two edits.
public struct MessageVersion: Codable, Sendable, Hashable {
  public var text: String
  /// Absent if it mentions nobody.
  public var mentions: MessageMentions?
  /// Absent if the message has no `type`.
  public var data: CanonicalJSON?
  public var writtenAt: Timestamp
  /// The position of the event that wrote it.
  public var position: LogPosition

  public init(
    text: String, mentions: MessageMentions?, data: CanonicalJSON?, writtenAt: Timestamp, position: LogPosition
  ) {
    self.text = text
    self.mentions = mentions
    self.data = data
    self.writtenAt = writtenAt
    self.position = position
  }
}

/// `GET /v1/rooms/{roomId}/messages/{messageId}/history`: oldest first, with the current version at the end.
public struct MessageHistory: ListObject {
  public var versions: [MessageVersion]
  @Nullable public var nextCursor: String?

  public init(versions: [MessageVersion], nextCursor: String?) {
    self.versions = versions
    self.nextCursor = nextCursor
  }
}
