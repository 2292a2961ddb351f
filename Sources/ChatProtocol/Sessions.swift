public import ChatPrimitives

/// `POST /v1/sessions`: with email address and password, with `userId` and password, or with an ID token; with a
/// service token and `Hansard-Act-As`, without any of these.
public struct CreateSessionRequest: RequestObject {
  /// Chosen by the client, so that a login that is sent twice creates one session.
  public let id: SessionID?
  public let email: String?
  /// Instead of an email address, for users without one.
  public let userId: UserID?
  public let password: String?
  /// An OpenID Connect ID token of a provider that the operator has configured.
  public let idToken: String?
  /// Required if `idToken` has a nonce. The token's nonce must be this value, or its SHA-256 if the operator configured
  /// this.
  public let nonce: String?
  /// The device that logs in; it may be registered later.
  public let deviceId: DeviceID?

  public init(
    id: SessionID? = nil, email: String? = nil, userId: UserID? = nil, password: String? = nil, idToken: String? = nil,
    nonce: String? = nil, deviceId: DeviceID? = nil
  ) {
    self.id = id
    self.email = email
    self.userId = userId
    self.password = password
    self.idToken = idToken
    self.nonce = nonce
    self.deviceId = deviceId
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case email
    case userId
    case password
    case idToken
    case nonce
    case deviceId
  }
}

/// `POST /v1/sessions/refresh`
public struct RefreshSessionRequest: RequestObject {
  public let refreshToken: String

  public init(refreshToken: String) {
    self.refreshToken = refreshToken
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case refreshToken
  }
}

/// A pair of tokens. All who refresh with the same token at once get the same pair.
public struct Tokens: ResponseObject {
  /// Sent as `Authorization: Bearer`.
  public var accessToken: String
  public var refreshToken: String
  /// Seconds until the access token expires.
  public var expiresIn: Int
  public var user: User
  public var sessionId: SessionID
  public var position: LogPosition

  public init(
    accessToken: String, refreshToken: String, expiresIn: Int, user: User, sessionId: SessionID,
    position:
      LogPosition
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.expiresIn = expiresIn
    self.user = user
    self.sessionId = sessionId
    self.position = position
  }
}

/// One login.
public struct Session: ResponseObject {
  public var id: SessionID
  @Nullable public var deviceId: DeviceID?
  public var startedAt: Timestamp
  public var refreshedAt: Timestamp
  @Nullable public var endedAt: Timestamp?
  /// Whether this request was made with this session.
  public var isCurrent: Bool
  public var position: LogPosition

  public init(
    id: SessionID, deviceId: DeviceID?, startedAt: Timestamp, refreshedAt: Timestamp, endedAt: Timestamp?,
    isCurrent: Bool, position: LogPosition
  ) {
    self.id = id
    self.deviceId = deviceId
    self.startedAt = startedAt
    self.refreshedAt = refreshedAt
    self.endedAt = endedAt
    self.isCurrent = isCurrent
    self.position = position
  }
}

/// `GET /v1/sessions`: the open sessions, latest first.
public struct SessionList: ListObject {
  public var sessions: [Session]

  public init(sessions: [Session]) {
    self.sessions = sessions
  }
}

/// `DELETE /v1/sessions`, `DELETE /v1/admin/users/{userId}/sessions`
public struct EndedSessions: ResponseObject {
  /// The sessions that are still open, latest first.
  public var sessions: [Session]
  public var position: LogPosition

  public init(sessions: [Session], position: LogPosition) {
    self.sessions = sessions
    self.position = position
  }
}
