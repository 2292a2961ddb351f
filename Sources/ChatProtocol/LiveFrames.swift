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

/// The messages of `GET /v1/sync/socket`.
public enum SocketMessages: RawBody {
  public static let format = BodyFormat.webSocket
}

/// What a client sends first over a WebSocket, unless its request had a token or a ticket. Later it renews the token, and
/// then has only that.
public struct AuthenticateFrame: RequestObject {
  public enum CodingKeys: String, CodingKey, CaseIterable {
    case type, token, since, perRoom, rooms, include
  }

  /// Absent in Socket.IO, where the packet or the name of the event says it.
  public var type: String?
  /// Absent if the request of the connection had one.
  public var token: String?
  public var since: String?
  public var perRoom: Int?
  public var rooms: [String]?
  public var include: [String]?
}

/// A command over a WebSocket: a request that changes something.
public struct CommandFrame: RequestObject {
  public enum CodingKeys: String, CodingKey, CaseIterable {
    case type, id, method, path, headers, body
  }

  public struct Headers: RequestObject {
    public enum CodingKeys: String, CodingKey, CaseIterable {
      case idempotencyKey = "Idempotency-Key"
      case ifMatch = "If-Match"
    }

    public var idempotencyKey: String?
    public var ifMatch: String?
  }

  /// Absent in Socket.IO, where the name of the event says it.
  public var type: String?
  /// The response has the same. Absent in Socket.IO, which numbers acknowledgements itself.
  public var id: String?
  public var method: String
  /// With the query, if there is one.
  public var path: String
  public var headers: Strict<Headers>?
  public var body: CanonicalJSON?
}

/// The stream is open, or its token was renewed.
public struct StreamReady: Codable, Sendable, Hashable {
  public var type = "ready"
  /// When the access token expires; null if it does not.
  @Nullable public var expiresAt: Timestamp?

  public init(expiresAt: Timestamp?) {
    self.expiresAt = expiresAt
  }
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
