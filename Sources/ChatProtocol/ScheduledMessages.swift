public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/scheduled-messages/{messageId}`: the fields of a message, and its time.
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
  public let silent: Bool?

  public init(
    sendAt: Timestamp, text: String? = nil, replyTo: MessageID? = nil, threadId: MessageID? = nil,
    mentions: Strict<MentionsRequest>? = nil, attachments: [Strict<AttachmentRequest>]? = nil, type: String? = nil,
    data: CanonicalJSON? = nil, silent: Bool? = nil
  ) {
    self.sendAt = sendAt
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
    case sendAt
    case text
    case replyTo
    case threadId
    case mentions
    case attachments
    case type
    case data
    case silent
  }

  /// All fields but the time.
  public var message: SendMessageRequest {
    SendMessageRequest(
      text: text, replyTo: replyTo, threadId: threadId, mentions: mentions, attachments: attachments, type: type,
      data: data, silent: silent)
  }
}

/// `PATCH /v1/rooms/{roomId}/scheduled-messages/{messageId}`: absent fields stay as they are.
public struct ChangeScheduledMessageRequest: RequestObject {
  public let text: String?
  public let mentions: Strict<MentionsRequest>?
  public let sendAt: Timestamp?
  /// Any JSON, null too, for a message with a `type`; if absent, it stays.
  public let data: CanonicalJSON?

  public init(
    text: String? = nil, mentions: Strict<MentionsRequest>? = nil, sendAt: Timestamp? = nil, data: CanonicalJSON? = nil
  ) {
    self.text = text
    self.mentions = mentions
    self.sendAt = sendAt
    self.data = data
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case text
    case mentions
    case sendAt
    case data
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    text = try container.decodeIfPresent(String.self, forKey: .text)
    mentions = try container.decodeIfPresent(Strict<MentionsRequest>.self, forKey: .mentions)
    sendAt = try container.decodeIfPresent(Timestamp.self, forKey: .sendAt)
    data =
      container.contains(.data) ? try container.decodeIfPresent(CanonicalJSON.self, forKey: .data) ?? .null : nil
  }
}

/// A message that is pending, or that could not be sent at its time. Only its author sees it. The fields from
/// `threadId` on are absent if they have no value, as in a message.
public struct ScheduledMessage: ResponseObject {
  /// The ID that the message has when it is sent.
  public var id: MessageID
  public var roomId: RoomID
  public var senderId: UserID
  public var text: String
  public var sendAt: Timestamp
  /// `pending` or `failed`.
  public var status: String
  /// Why it was not sent: `not_a_member`, `room_closed`, `silenced` or `target_gone`; null while it is pending.
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
  public var silent: Bool?

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

/// The caller's own scheduled messages. `GET /v1/rooms/{roomId}/scheduled-messages`: earliest time first. `GET
/// /v1/scheduled-messages`: those in all rooms, in the order in which they were scheduled.
public struct ScheduledMessagePage: ListObject {
  public var scheduledMessages: [ScheduledMessage]
  @Nullable public var nextCursor: String?

  public init(scheduledMessages: [ScheduledMessage], nextCursor: String?) {
    self.scheduledMessages = scheduledMessages
    self.nextCursor = nextCursor
  }
}

/// The receipt for changing and cancelling: the requested values, as they were sent.
public struct SchedulingReceipt: ResponseObject {
  public var id: MessageID
  public var roomId: RoomID
  /// Absent if the request did not change it. The same applies to the next three fields.
  public var text: String?
  public var mentions: MessageMentions?
  public var sendAt: Timestamp?
  public var data: CanonicalJSON?
  public var position: LogPosition
  /// The same as `position`. `If-Match` uses it from now on.
  public var revision: LogPosition

  public init(
    id: MessageID, roomId: RoomID, text: String? = nil, mentions: MessageMentions? = nil, sendAt: Timestamp? = nil,
    data: CanonicalJSON? = nil, position: LogPosition
  ) {
    self.id = id
    self.roomId = roomId
    self.text = text
    self.mentions = mentions
    self.sendAt = sendAt
    self.data = data
    self.position = position
    revision = position
  }
}
