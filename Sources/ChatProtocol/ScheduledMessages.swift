public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/scheduled-messages/{messageId}`: what a message takes, and its time.
public struct ScheduleMessageRequest: RequestObject {
  /// In the future, within a year.
  public let sendAt: Timestamp
  public let text: String?
  public let replyTo: MessageID?
  public let threadId: MessageID?
  public let mentions: Strict<MentionsRequest>?
  public let attachments: [Strict<AttachmentRequest>]?
  public let type: String?
  public let data: CanonicalJSON?

  public init(
    sendAt: Timestamp, text: String? = nil, replyTo: MessageID? = nil, threadId: MessageID? = nil,
    mentions: Strict<MentionsRequest>? = nil, attachments: [Strict<AttachmentRequest>]? = nil, type: String? = nil,
    data: CanonicalJSON? = nil
  ) {
    self.sendAt = sendAt
    self.text = text
    self.replyTo = replyTo
    self.threadId = threadId
    self.mentions = mentions
    self.attachments = attachments
    self.type = type
    self.data = data
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case sendAt
    case text
    case replyTo
    case threadId
    case mentions
    case attachments
    case type
    case data
  }

  /// All but the time.
  public var message: SendMessageRequest {
    SendMessageRequest(
      text: text, replyTo: replyTo, threadId: threadId, mentions: mentions, attachments: attachments, type: type,
      data: data)
  }
}

/// `PATCH /v1/rooms/{roomId}/scheduled-messages/{messageId}`: what is absent stays as it is.
public struct ChangeScheduledMessageRequest: RequestObject {
  public let text: String?
  public let mentions: Strict<MentionsRequest>?
  public let sendAt: Timestamp?

  public init(text: String? = nil, mentions: Strict<MentionsRequest>? = nil, sendAt: Timestamp? = nil) {
    self.text = text
    self.mentions = mentions
    self.sendAt = sendAt
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case text
    case mentions
    case sendAt
  }
}

/// A message that waits for its time, or that could not be sent when it came. Its author alone sees it. The fields from
/// `threadId` on are absent where there is nothing of them, as in a message.
public struct ScheduledMessage: ResponseObject {
  /// Of the message as it will be sent.
  public var id: MessageID
  public var roomId: RoomID
  public var senderId: UserID
  public var text: String
  public var sendAt: Timestamp
  /// `pending` or `failed`.
  public var status: String
  /// Why it was not sent: `not_a_member`, `room_closed`, `silenced` or `target_gone`; null while it waits.
  @Nullable public var failure: String?
  @Nullable public var failedAt: Timestamp?
  /// Where it was scheduled.
  public var position: LogPosition
  /// Where it was last written: scheduled, changed or failed.
  public var revision: LogPosition
  public var threadId: MessageID?
  public var replyTo: MessageID?
  public var mentions: MessageMentions?
  public var attachments: [MessageAttachment]?
  public var type: String?
  public var data: CanonicalJSON?

  public init(
    id: MessageID, roomId: RoomID, senderId: UserID, text: String, sendAt: Timestamp, status: String,
    failure: String?, failedAt: Timestamp?, position: LogPosition, revision: LogPosition
  ) {
    self.id = id
    self.roomId = roomId
    self.senderId = senderId
    self.text = text
    self.sendAt = sendAt
    self.status = status
    self.failure = failure
    self.failedAt = failedAt
    self.position = position
    self.revision = revision
  }
}

/// The caller's own. `GET /v1/rooms/{roomId}/scheduled-messages`: the earliest time first. `GET /v1/scheduled-messages`:
/// those in all rooms, in the order in which they were scheduled.
public struct ScheduledMessagePage: ResponseObject {
  public var scheduledMessages: [ScheduledMessage]
  @Nullable public var nextCursor: String?

  public init(scheduledMessages: [ScheduledMessage], nextCursor: String?) {
    self.scheduledMessages = scheduledMessages
    self.nextCursor = nextCursor
  }
}

/// The receipt for changing and cancelling: what was asked for, as it was asked for.
public struct SchedulingReceipt: ResponseObject {
  public var id: MessageID
  public var roomId: RoomID
  /// Absent where the request did not change it. So below, too.
  public var text: String?
  public var mentions: MessageMentions?
  public var sendAt: Timestamp?
  public var position: LogPosition
  /// The same: what `If-Match` names from here on.
  public var revision: LogPosition

  public init(
    id: MessageID, roomId: RoomID, text: String? = nil, mentions: MessageMentions? = nil, sendAt: Timestamp? = nil,
    position: LogPosition
  ) {
    self.id = id
    self.roomId = roomId
    self.text = text
    self.mentions = mentions
    self.sendAt = sendAt
    self.position = position
    revision = position
  }
}
