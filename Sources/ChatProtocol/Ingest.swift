public import ChatPrimitives

/// One line of `POST /v1/ingest`. `docs/ingest.md` lists the fields that each op accepts and requires.
public struct IngestLine: RequestObject {
  /// `user.register`, `room.create`, `member.join`, `member.leave`, `message.send`, `message.edit`, `message.delete`,
  /// `reaction.add`, `reaction.remove`, `message.pin`, `message.unpin`, `read-marker.move`.
  public let op: String
  /// With a service token: the user in whose name to act.
  public let `as`: UserID?
  /// The ID of what is created or changed, depending on the op.
  public let id: ID<Entity>?
  public let roomId: RoomID?
  public let messageId: MessageID?
  public let text: String?
  public let replyTo: MessageID?
  public let threadId: MessageID?
  public let mentions: Strict<MentionsRequest>?
  public let attachments: [Strict<AttachmentRequest>]?
  public let type: String?
  /// Nil if it is absent, and the JSON null if it is null.
  public let data: CanonicalJSON?
  public let silent: Bool?
  public let emoji: String?
  public let name: String?
  public let kind: String?
  public let nickname: String?
  public let externalId: String?
  /// The idempotency key of an op that creates nothing.
  public let key: String?
  /// With a service token: when it originally happened. Such events notify nobody.
  public let sentAt: Timestamp?

  public init(
    op: String, `as`: UserID? = nil, id: ID<Entity>? = nil, roomId: RoomID? = nil, messageId: MessageID? = nil,
    text: String? = nil, replyTo: MessageID? = nil, threadId: MessageID? = nil,
    mentions: Strict<MentionsRequest>? = nil, attachments: [Strict<AttachmentRequest>]? = nil, type: String? = nil,
    data: CanonicalJSON? = nil, silent: Bool? = nil, emoji: String? = nil, name: String? = nil, kind: String? = nil,
    nickname: String? = nil,
    externalId: String? = nil, key: String? = nil, sentAt: Timestamp? = nil
  ) {
    self.op = op
    self.as = `as`
    self.id = id
    self.roomId = roomId
    self.messageId = messageId
    self.text = text
    self.replyTo = replyTo
    self.threadId = threadId
    self.mentions = mentions
    self.attachments = attachments
    self.type = type
    self.data = data
    self.silent = silent
    self.emoji = emoji
    self.name = name
    self.kind = kind
    self.nickname = nickname
    self.externalId = externalId
    self.key = key
    self.sentAt = sentAt
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case op
    case `as`
    case id
    case roomId
    case messageId
    case text
    case replyTo
    case threadId
    case mentions
    case attachments
    case type
    case data
    case silent
    case emoji
    case name
    case kind
    case nickname
    case externalId
    case key
    case sentAt
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    op = try container.decode(String.self, forKey: .op)
    `as` = try container.decodeIfPresent(UserID.self, forKey: .`as`)
    id = try container.decodeIfPresent(ID<Entity>.self, forKey: .id)
    roomId = try container.decodeIfPresent(RoomID.self, forKey: .roomId)
    messageId = try container.decodeIfPresent(MessageID.self, forKey: .messageId)
    text = try container.decodeIfPresent(String.self, forKey: .text)
    replyTo = try container.decodeIfPresent(MessageID.self, forKey: .replyTo)
    threadId = try container.decodeIfPresent(MessageID.self, forKey: .threadId)
    mentions = try container.decodeIfPresent(Strict<MentionsRequest>.self, forKey: .mentions)
    attachments = try container.decodeIfPresent([Strict<AttachmentRequest>].self, forKey: .attachments)
    type = try container.decodeIfPresent(String.self, forKey: .type)
    data =
      container.contains(.data) ? try container.decodeIfPresent(CanonicalJSON.self, forKey: .data) ?? .null : nil
    silent = try container.decodeIfPresent(Bool.self, forKey: .silent)
    emoji = try container.decodeIfPresent(String.self, forKey: .emoji)
    name = try container.decodeIfPresent(String.self, forKey: .name)
    kind = try container.decodeIfPresent(String.self, forKey: .kind)
    nickname = try container.decodeIfPresent(String.self, forKey: .nickname)
    externalId = try container.decodeIfPresent(String.self, forKey: .externalId)
    key = try container.decodeIfPresent(String.self, forKey: .key)
    sentAt = try container.decodeIfPresent(Timestamp.self, forKey: .sentAt)
  }
}

/// One line of the response: the result of the line with the same number.
public struct IngestResult: Codable, Sendable, Hashable {
  /// Counted from 1.
  public let line: Int
  /// The HTTP status of this line.
  public let status: Int
  public let position: LogPosition?
  /// True if the line recorded nothing, because it was done before; otherwise absent.
  public let replayed: Bool?
  public let code: String?
  public let detail: String?

  public init(line: Int, status: Int, position: LogPosition, isRepeat: Bool = false) {
    self.line = line
    self.status = status
    self.position = position
    replayed = isRepeat ? true : nil
    code = nil
    detail = nil
  }

  public init(line: Int, status: Int, code: String, detail: String) {
    self.line = line
    self.status = status
    position = nil
    replayed = nil
    self.code = code
    self.detail = detail
  }
}
