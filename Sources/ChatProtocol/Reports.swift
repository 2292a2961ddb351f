public import ChatPrimitives

/// `POST /v1/rooms/{roomId}/reports`: a report of a message or of a member. Has exactly one of `messageId` and `userId`.
public struct FileReportRequest: RequestObject {
  /// Chosen by the client, unique in the room.
  public let id: ReportID?
  public let messageId: MessageID?
  public let userId: UserID?
  /// `spam`, `harassment`, `hate`, `violence`, `sexual_content`, `child_safety`, `self_harm`, `impersonation`, `illegal`
  /// or `other`.
  public let reason: String
  public let comment: String?

  public init(
    id: ReportID? = nil, messageId: MessageID? = nil, userId: UserID? = nil, reason: String, comment: String? = nil
  ) {
    self.id = id
    self.messageId = messageId
    self.userId = userId
    self.reason = reason
    self.comment = comment
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case messageId
    case userId
    case reason
    case comment
  }
}

/// `POST /v1/rooms/{roomId}/reports/{reportId}/resolve`
public struct ResolveReportRequest: RequestObject {
  /// `no_action`, `message_deleted`, `user_warned`, `user_silenced`, `user_removed` or `other`.
  public let outcome: String
  /// For other moderators.
  public let note: String?

  public init(outcome: String, note: String? = nil) {
    self.outcome = outcome
    self.note = note
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case outcome
    case note
  }
}

/// A report. The reported user never sees it.
public struct Report: ResponseObject {
  public var id: ReportID
  public var roomId: RoomID
  /// `open` or `resolved`.
  public var status: String
  /// Null if the report was erased. Then `reportedUser` and `message` are null too, and the comment is empty.
  @Nullable public var reason: String?
  public var comment: String
  public var reporter: User
  /// The author of the reported message, or the reported member.
  @Nullable public var reportedUser: User?
  /// Null if a member is reported.
  @Nullable public var message: ReportedMessage?
  public var filedAt: Timestamp
  /// The position where the report was filed.
  public var position: LogPosition
  /// The position where the report was last filed, resolved or reopened, or ended with its room.
  public var revision: LogPosition
  /// Null while it is open.
  @Nullable public var resolution: ReportResolution?

  public init(
    id: ReportID, roomId: RoomID, status: String, reason: String?, comment: String, reporter: User,
    reportedUser: User?, message: ReportedMessage?, filedAt: Timestamp, position: LogPosition, revision: LogPosition,
    resolution: ReportResolution?
  ) {
    self.id = id
    self.roomId = roomId
    self.status = status
    self.reason = reason
    self.comment = comment
    self.reporter = reporter
    self.reportedUser = reportedUser
    self.message = message
    self.filedAt = filedAt
    self.position = position
    self.revision = revision
    self.resolution = resolution
  }
}

/// A message as it was when it was reported. The fields from `replyTo` on are absent if the message did not have them.
public struct ReportedMessage: Codable, Sendable, Hashable {
  public var id: MessageID
  /// Null if the message had been deleted. Then the report has no content of it.
  @Nullable public var text: String?
  public var sentAt: Timestamp
  public var replyTo: MessageID?
  public var mentions: MessageMentions?
  public var attachments: [MessageAttachment]?
  public var type: String?
  public var data: CanonicalJSON?

  public init(id: MessageID, text: String?, sentAt: Timestamp) {
    self.id = id
    self.text = text
    self.sentAt = sentAt
  }
}

/// How a report was resolved. The reporter gets `note` and `by` as null.
public struct ReportResolution: Codable, Sendable, Hashable {
  /// As in `ResolveReportRequest`, or `room_deleted` if the room was deleted while the report was open. Null if the
  /// resolution was erased.
  @Nullable public var outcome: String?
  @Nullable public var note: String?
  /// Null if a service acted as itself.
  @Nullable public var by: User?
  public var at: Timestamp

  public init(outcome: String?, note: String?, by: User?, at: Timestamp) {
    self.outcome = outcome
    self.note = note
    self.by = by
    self.at = at
  }
}

/// Reports with one status, the newest first. Reports about the caller are left out.
public struct ReportList: ListObject {
  public var reports: [Report]
  @Nullable public var nextCursor: String?

  public init(reports: [Report], nextCursor: String?) {
    self.reports = reports
    self.nextCursor = nextCursor
  }
}
