public import ChatPrimitives

/// `POST /v1/sync/tickets`: opens one stream as the caller, in the query parameter `ticket`.
public struct StreamTicket: ResponseObject {
  public var ticket: String
  public var expiresAt: Timestamp

  public init(ticket: String, expiresAt: Timestamp) {
    self.ticket = ticket
    self.expiresAt = expiresAt
  }
}

/// The events of `GET /v1/sync/stream`, as `text/event-stream`.
public enum EventStream: RawBody {
  public static let format = BodyFormat.eventStream
}

/// The access token of a stream expires soon.
public struct StreamExpiring: Codable, Sendable, Hashable {
  public var type = "expiring"
  public var expiresAt: Timestamp

  public init(expiresAt: Timestamp) {
    self.expiresAt = expiresAt
  }
}

/// The last frame of a stream: why it ends.
public struct StreamEnd: Codable, Sendable, Hashable {
  public var type = "end"
  /// The code of a problem.
  public var code: String
  public var detail: String
  /// How long to wait before the client resumes with its cursor; absent if resuming does not help, because the client
  /// has to do something else first.
  public var resumeAfterMilliseconds: Int?

  public init(code: String, detail: String, resumeAfterMilliseconds: Int?) {
    self.code = code
    self.detail = detail
    self.resumeAfterMilliseconds = resumeAfterMilliseconds
  }
}
