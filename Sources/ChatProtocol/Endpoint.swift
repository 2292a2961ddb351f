/// One line of the contract: how a request is addressed and who may make it.
public struct Endpoint: Sendable, Hashable {
  public enum Method: String, Sendable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  /// Whose token the endpoint wants.
  public enum Access: String, Sendable {
    /// None. A service token that comes along counts; a user's is not looked at, so that an expired one is in nobody's
    /// way.
    case open
    /// A user's access token, or a service token with `Hansard-Act-As`.
    case user
    /// Either of these; a service may also act for itself.
    case userOrService
    /// A service token alone.
    case service
  }

  public let method: Method
  /// With parameters in braces, as in `docs/openapi.yaml`.
  public let path: String
  public let access: Access
  /// The parameters that its query may have.
  public let query: [String]
  /// Nothing depends on who asks: no token is looked at, right or wrong.
  public let ignoresTokens: Bool

  init(_ method: Method, _ path: String, _ access: Access, query: [String] = [], ignoresTokens: Bool = false) {
    self.method = method
    self.path = path
    self.access = access
    self.query = query
    self.ignoresTokens = ignoresTokens
  }
}

/// The whole API. The server's route table and `docs/openapi.yaml` are tested against this list.
public enum Endpoints {
  // MARK: Accounts and sessions
  public static let createAccount = Endpoint(.post, "/v1/accounts", .open)
  public static let createSession = Endpoint(.post, "/v1/sessions", .open)
  public static let refreshSession = Endpoint(.post, "/v1/sessions/refresh", .open, ignoresTokens: true)
  public static let listSessions = Endpoint(.get, "/v1/sessions", .user)
  public static let endSession = Endpoint(.delete, "/v1/sessions/{sessionId}", .user)
  public static let getMe = Endpoint(.get, "/v1/me", .user)
  public static let updateMe = Endpoint(.patch, "/v1/me", .user)
  public static let getUser = Endpoint(.get, "/v1/users/{userId}", .userOrService)
  public static let findUsers = Endpoint(.get, "/v1/admin/users", .service, query: ["externalId"])

  // MARK: Devices
  public static let listDevices = Endpoint(.get, "/v1/devices", .user)
  public static let putDevice = Endpoint(.put, "/v1/devices/{deviceId}", .user)
  public static let getDevice = Endpoint(.get, "/v1/devices/{deviceId}", .user)
  public static let deleteDevice = Endpoint(.delete, "/v1/devices/{deviceId}", .user)

  // MARK: Rooms and members
  public static let createRoom = Endpoint(.post, "/v1/rooms", .userOrService)
  public static let listRooms = Endpoint(.get, "/v1/rooms", .user, query: ["cursor", "limit"])
  public static let getRoom = Endpoint(.get, "/v1/rooms/{roomId}", .user)
  public static let updateRoom = Endpoint(.patch, "/v1/rooms/{roomId}", .user)
  public static let archiveRoom = Endpoint(.delete, "/v1/rooms/{roomId}", .user)
  public static let listMembers = Endpoint(
    .get, "/v1/rooms/{roomId}/members", .user, query: ["cursor", "limit"])
  public static let addMember = Endpoint(.put, "/v1/rooms/{roomId}/members/{userId}", .user)
  public static let removeMember = Endpoint(.delete, "/v1/rooms/{roomId}/members/{userId}", .user)
  public static let leaveRoom = Endpoint(.post, "/v1/rooms/{roomId}/leave", .user)
  public static let muteRoom = Endpoint(.put, "/v1/rooms/{roomId}/mute", .user)

  // MARK: Sharing
  public static let createInvite = Endpoint(.post, "/v1/rooms/{roomId}/invites", .user)
  public static let listInvites = Endpoint(.get, "/v1/rooms/{roomId}/invites", .user)
  public static let revokeInvite = Endpoint(.delete, "/v1/rooms/{roomId}/invites/{inviteId}", .user)
  public static let previewInvite = Endpoint(.get, "/v1/invites/{token}", .user)
  public static let acceptInvite = Endpoint(.post, "/v1/invites/{token}/accept", .user)

  // MARK: Messages and read markers
  public static let listMessages = Endpoint(
    .get, "/v1/rooms/{roomId}/messages", .user, query: ["before", "after", "around", "limit"])
  public static let sendMessage = Endpoint(.put, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let getMessage = Endpoint(.get, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let editMessage = Endpoint(.patch, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let deleteMessage = Endpoint(.delete, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let moveReadMarker = Endpoint(.put, "/v1/rooms/{roomId}/read-marker", .user)
  public static let getBadge = Endpoint(.get, "/v1/badge", .user)

  // MARK: Search
  public static let search = Endpoint(
    .get, "/v1/search", .user,
    query: ["q", "roomId", "senderId", "since", "until", "hasMedia", "limit", "cursor"])

  // MARK: Bulk
  public static let ingest = Endpoint(.post, "/v1/ingest", .userOrService)

  // MARK: The server itself
  public static let health = Endpoint(.get, "/healthz", .open, ignoresTokens: true)
  public static let readiness = Endpoint(.get, "/readyz", .open, ignoresTokens: true)

  /// Served only when the operator asks for it, to measure against; no part of the API.
  public static let bench = Endpoint(.put, "/bench/messages/{messageId}", .user)

  public static let all: [Endpoint] = [
    createAccount, createSession, refreshSession, listSessions, endSession, getMe, updateMe, getUser, findUsers,
    listDevices, putDevice, getDevice, deleteDevice,
    createRoom, listRooms, getRoom, updateRoom, archiveRoom, listMembers, addMember, removeMember, leaveRoom, muteRoom,
    createInvite, listInvites, revokeInvite, previewInvite, acceptInvite,
    listMessages, sendMessage, getMessage, editMessage, deleteMessage, moveReadMarker, getBadge,
    search, ingest, health, readiness,
  ]
}

/// The names of the headers that the API reads or writes beside the standard ones.
public enum HeaderName {
  /// A UUID that names a mutation: the same key answers as the first time, for ever.
  public static let idempotencyKey = "Idempotency-Key"
  /// With a service token: the user in whose name to act.
  public static let actAs = "Hansard-Act-As"
}
