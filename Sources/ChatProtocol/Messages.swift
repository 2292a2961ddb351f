public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/messages/{messageId}`. A message needs a text, an attachment or a custom part.
public struct SendMessageRequest: RequestObject {
  public let text: String?
  /// The message that it replies to.
  public let replyTo: MessageID?
  /// The root of the thread that it belongs to.
  public let threadId: MessageID?
  public let mentions: Strict<MentionsRequest>?
  public let attachments: [Strict<AttachmentRequest>]?
  /// The app's own name for the kind of content in `data`.
  public let type: String?
  /// Any JSON; null if only `type` is given.
  public let data: CanonicalJSON?
  /// Whether a message with a `type` neither counts as unread nor notifies.
  public let silent: Bool?

  public init(
    text: String?, replyTo: MessageID?, threadId: MessageID?, mentions: Strict<MentionsRequest>?,
    attachments: [Strict<AttachmentRequest>]?, type: String?, data: CanonicalJSON?, silent: Bool?
  ) {
    self.text = text
    self.replyTo = replyTo
    self.threadId = threadId
    self.mentions = mentions
    self.attachments = attachments
    self.type = type
    self.data = data
    self.silent = silent
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case text
    case replyTo
    case threadId
    case mentions
    case attachments
    case type
    case data
    case silent
  }
}

/// Whom a message mentions. Absent fields mention nobody.
public struct MentionsRequest: RequestObject {
  public let users: [UserID]?
  public let everyone: Bool?

  public init(users: [UserID]? = nil, everyone: Bool? = nil) {
    self.users = users
    self.everyone = everyone
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case users
    case everyone
  }
}

/// An uploaded file that is attached to a message.
public struct AttachmentRequest: RequestObject {
  public let mediaId: MediaID
  public let name: String?

  public init(mediaId: MediaID, name: String? = nil) {
    self.mediaId = mediaId
    self.name = name
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case mediaId
    case name
  }
}

/// `PATCH /v1/rooms/{roomId}/messages/{messageId}`: replaces text and mentions together, or the app's own data, or both,
/// and keeps everything else.
public struct EditMessageRequest: RequestObject {
  public let text: String?
  public let mentions: Strict<MentionsRequest>?
  /// Any JSON, null too, for a message with a `type`; if absent, it stays.
  public let data: CanonicalJSON?

  public init(text: String?, mentions: Strict<MentionsRequest>? = nil, data: CanonicalJSON? = nil) {
    self.text = text
    self.mentions = mentions
    self.data = data
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case text
    case mentions
    case data
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    text = try container.decodeIfPresent(String.self, forKey: .text)
    mentions = try container.decodeIfPresent(Strict<MentionsRequest>.self, forKey: .mentions)
    data =
      container.contains(.data) ? try container.decodeIfPresent(CanonicalJSON.self, forKey: .data) ?? .null : nil
  }
}

/// A message. A deleted one keeps its place, with an empty text. Every field from `replyTo` on is absent if it has no
/// value, so that a plain message costs no more than its text.
public struct Message: ResponseObject {
  public var id: MessageID
  public var roomId: RoomID
  public var senderId: UserID
  public var text: String
  public var sentAt: Timestamp
  /// Where it was sent. The messages of a room are ordered by position.
  public var position: LogPosition
  /// Where it was last written: sent, edited or deleted.
  public var revision: LogPosition
  @Nullable public var editedAt: Timestamp?
  @Nullable public var deletedAt: Timestamp?
  public var replyTo: MessageID?
  public var quote: MessageQuote?
  /// The root of the thread that it belongs to.
  public var threadId: MessageID?
  /// The thread that starts at it.
  public var thread: MessageThread?
  public var mentions: MessageMentions?
  public var attachments: [MessageAttachment]?
  public var type: String?
  public var data: CanonicalJSON?
  /// True if it neither counts as unread nor notifies; otherwise absent.
  public var silent: Bool?
  public var reactions: [MessageReaction]?
  public var pinned: Bool?
  /// True if the caller blocks the sender now; otherwise absent.
  public var isFromBlockedUser: Bool?

  public init(
    id: MessageID, roomId: RoomID, senderId: UserID, text: String, sentAt: Timestamp, position: LogPosition,
    revision: LogPosition, editedAt: Timestamp?, deletedAt: Timestamp?
  ) {
    self.id = id
    self.roomId = roomId
    self.senderId = senderId
    self.text = text
    self.sentAt = sentAt
    self.position = position
    self.revision = revision
    self.editedAt = editedAt
    self.deletedAt = deletedAt
  }
}

/// A page of a room, oldest first. `nextCursor` leads to older messages (pass it as `before`), `previousCursor` to
/// newer ones (pass it as `after`); each is null if there are none.
public struct MessagePage: ListObject {
  public var messages: [Message]
  /// The senders, the users whom messages mention or quote, and the participants of threads.
  public var users: [User]
  @Nullable public var nextCursor: String?
  @Nullable public var previousCursor: String?

  public init(messages: [Message], users: [User], nextCursor: String?, previousCursor: String?) {
    self.messages = messages
    self.users = users
    self.nextCursor = nextCursor
    self.previousCursor = previousCursor
  }
}
