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
  /// What it changes has a revision, which `If-Match` may name.
  public let takesIfMatch: Bool

  init(
    _ method: Method, _ path: String, _ access: Access, query: [String] = [], ignoresTokens: Bool = false,
    takesIfMatch: Bool = false
  ) {
    self.method = method
    self.path = path
    self.access = access
    self.query = query
    self.ignoresTokens = ignoresTokens
    self.takesIfMatch = takesIfMatch
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
  public static let endSessions = Endpoint(.delete, "/v1/sessions", .user, query: ["all"])
  public static let getMe = Endpoint(.get, "/v1/me", .user)
  public static let updateMe = Endpoint(.patch, "/v1/me", .user, takesIfMatch: true)
  public static let changePassword = Endpoint(.put, "/v1/me/password", .user)
  public static let linkIdentity = Endpoint(.post, "/v1/me/identities", .user)
  public static let unlinkIdentity = Endpoint(
    .delete, "/v1/me/identities", .user, query: ["issuer", "subject"])
  public static let resetPassword = Endpoint(.post, "/v1/password-resets", .open, ignoresTokens: true)
  public static let getPreferences = Endpoint(.get, "/v1/me/preferences", .user)
  public static let updatePreferences = Endpoint(.patch, "/v1/me/preferences", .user)
  public static let getUser = Endpoint(.get, "/v1/users/{userId}", .userOrService)
  public static let signingKeys = Endpoint(.get, "/.well-known/jwks.json", .open, ignoresTokens: true)

  // MARK: Administration of accounts
  public static let findUsers = Endpoint(.get, "/v1/admin/users", .service, query: ["externalId"])
  public static let requestPasswordReset = Endpoint(.post, "/v1/admin/users/{userId}/password-reset", .service)
  public static let disableUser = Endpoint(.post, "/v1/admin/users/{userId}/disable", .service)
  public static let enableUser = Endpoint(.post, "/v1/admin/users/{userId}/enable", .service)
  public static let listUserSessions = Endpoint(.get, "/v1/admin/users/{userId}/sessions", .service)
  public static let endUserSessions = Endpoint(.delete, "/v1/admin/users/{userId}/sessions", .service)
  public static let rotateSigningKey = Endpoint(.post, "/v1/admin/signing-keys/rotate", .service)

  // MARK: Administration of the server
  public static let confirmClock = Endpoint(.post, "/v1/admin/clock/confirm", .service)

  // MARK: Devices
  public static let listDevices = Endpoint(.get, "/v1/devices", .user)
  public static let putDevice = Endpoint(.put, "/v1/devices/{deviceId}", .user, takesIfMatch: true)
  public static let getDevice = Endpoint(.get, "/v1/devices/{deviceId}", .user)
  public static let deleteDevice = Endpoint(.delete, "/v1/devices/{deviceId}", .user, takesIfMatch: true)

  // MARK: Rooms and members
  public static let createRoom = Endpoint(.post, "/v1/rooms", .userOrService)
  public static let listRooms = Endpoint(.get, "/v1/rooms", .user, query: ["archived", "cursor", "limit"])
  public static let getRoom = Endpoint(.get, "/v1/rooms/{roomId}", .user)
  public static let updateRoom = Endpoint(.patch, "/v1/rooms/{roomId}", .userOrService, takesIfMatch: true)
  public static let deleteRoom = Endpoint(.delete, "/v1/rooms/{roomId}", .userOrService, takesIfMatch: true)
  public static let archiveRoom = Endpoint(.post, "/v1/rooms/{roomId}/archive", .userOrService, takesIfMatch: true)
  public static let unarchiveRoom = Endpoint(.post, "/v1/rooms/{roomId}/unarchive", .userOrService, takesIfMatch: true)
  public static let transferRoom = Endpoint(.post, "/v1/rooms/{roomId}/transfer", .userOrService)
  public static let listMembers = Endpoint(
    .get, "/v1/rooms/{roomId}/members", .user, query: ["cursor", "limit"])
  public static let addMember = Endpoint(.put, "/v1/rooms/{roomId}/members/{userId}", .userOrService)
  public static let removeMember = Endpoint(.delete, "/v1/rooms/{roomId}/members/{userId}", .userOrService)
  public static let joinRoom = Endpoint(.post, "/v1/rooms/{roomId}/join", .user)
  public static let leaveRoom = Endpoint(.post, "/v1/rooms/{roomId}/leave", .user)
  public static let muteRoom = Endpoint(.put, "/v1/rooms/{roomId}/mute", .user)

  // MARK: Moderation
  public static let changeMemberRole = Endpoint(.put, "/v1/rooms/{roomId}/members/{userId}/role", .userOrService)
  public static let silenceMember = Endpoint(.put, "/v1/rooms/{roomId}/members/{userId}/silence", .userOrService)
  public static let listBans = Endpoint(.get, "/v1/rooms/{roomId}/bans", .user, query: ["cursor", "limit"])
  public static let banUser = Endpoint(.put, "/v1/rooms/{roomId}/bans/{userId}", .userOrService)
  public static let unbanUser = Endpoint(.delete, "/v1/rooms/{roomId}/bans/{userId}", .userOrService)
  public static let getJoinHistory = Endpoint(
    .get, "/v1/rooms/{roomId}/join-history", .user, query: ["cursor", "limit"])

  // MARK: Workspaces
  public static let createWorkspace = Endpoint(.post, "/v1/workspaces", .user)
  public static let listWorkspaces = Endpoint(.get, "/v1/workspaces", .user, query: ["cursor", "limit"])
  public static let getWorkspace = Endpoint(.get, "/v1/workspaces/{workspaceId}", .user)
  public static let updateWorkspace = Endpoint(
    .patch, "/v1/workspaces/{workspaceId}", .userOrService, takesIfMatch: true)
  public static let deleteWorkspace = Endpoint(
    .delete, "/v1/workspaces/{workspaceId}", .userOrService, takesIfMatch: true)
  public static let transferWorkspace = Endpoint(.post, "/v1/workspaces/{workspaceId}/transfer", .userOrService)
  public static let listChannels = Endpoint(
    .get, "/v1/workspaces/{workspaceId}/channels", .user, query: ["cursor", "limit"])
  public static let listWorkspaceMembers = Endpoint(
    .get, "/v1/workspaces/{workspaceId}/members", .user, query: ["cursor", "limit"])
  public static let removeWorkspaceMember = Endpoint(
    .delete, "/v1/workspaces/{workspaceId}/members/{userId}", .userOrService)
  public static let changeWorkspaceRole = Endpoint(
    .put, "/v1/workspaces/{workspaceId}/members/{userId}/role", .userOrService)
  public static let joinWorkspace = Endpoint(.post, "/v1/workspaces/{workspaceId}/join", .user)
  public static let leaveWorkspace = Endpoint(.post, "/v1/workspaces/{workspaceId}/leave", .user)
  public static let createWorkspaceInvite = Endpoint(.post, "/v1/workspaces/{workspaceId}/invites", .userOrService)
  public static let listWorkspaceInvites = Endpoint(
    .get, "/v1/workspaces/{workspaceId}/invites", .user, query: ["cursor", "limit"])
  public static let revokeWorkspaceInvite = Endpoint(
    .delete, "/v1/workspaces/{workspaceId}/invites/{inviteId}", .userOrService)
  public static let listInvitations = Endpoint(
    .get, "/v1/workspaces/{workspaceId}/invitations", .user, query: ["cursor", "limit"])
  public static let inviteUser = Endpoint(.put, "/v1/workspaces/{workspaceId}/invitations/{userId}", .userOrService)
  public static let withdrawInvitation = Endpoint(
    .delete, "/v1/workspaces/{workspaceId}/invitations/{userId}", .userOrService)
  public static let listMyInvitations = Endpoint(.get, "/v1/me/invitations", .user, query: ["cursor", "limit"])
  public static let declineInvitation = Endpoint(.delete, "/v1/me/invitations/{workspaceId}", .user)

  // MARK: Sharing
  public static let createInvite = Endpoint(.post, "/v1/rooms/{roomId}/invites", .userOrService)
  public static let listInvites = Endpoint(
    .get, "/v1/rooms/{roomId}/invites", .user, query: ["cursor", "limit"])
  public static let revokeInvite = Endpoint(.delete, "/v1/rooms/{roomId}/invites/{inviteId}", .userOrService)
  public static let previewInvite = Endpoint(.get, "/v1/invites/{token}", .user)
  public static let acceptInvite = Endpoint(.post, "/v1/invites/{token}/accept", .user)

  // MARK: Messages and read markers
  public static let listMessages = Endpoint(
    .get, "/v1/rooms/{roomId}/messages", .user, query: ["before", "after", "around", "limit"])
  public static let sendMessage = Endpoint(.put, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let getMessage = Endpoint(.get, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let editMessage = Endpoint(.patch, "/v1/rooms/{roomId}/messages/{messageId}", .user, takesIfMatch: true)
  public static let deleteMessage = Endpoint(
    .delete, "/v1/rooms/{roomId}/messages/{messageId}", .userOrService, takesIfMatch: true)
  public static let moveReadMarker = Endpoint(.put, "/v1/rooms/{roomId}/read-marker", .user)
  public static let listReadMarkers = Endpoint(
    .get, "/v1/rooms/{roomId}/read-markers", .user, query: ["cursor", "limit"])
  public static let markUnread = Endpoint(.put, "/v1/rooms/{roomId}/unread-mark", .user)
  public static let listThread = Endpoint(
    .get, "/v1/rooms/{roomId}/messages/{messageId}/thread", .user, query: ["before", "after", "around", "limit"])
  public static let moveThreadMarker = Endpoint(
    .put, "/v1/rooms/{roomId}/messages/{messageId}/thread/read-marker", .user)
  public static let followThread = Endpoint(
    .put, "/v1/rooms/{roomId}/messages/{messageId}/thread/following", .user)
  public static let listThreads = Endpoint(.get, "/v1/threads", .user, query: ["cursor", "limit"])
  public static let addReaction = Endpoint(
    .put, "/v1/rooms/{roomId}/messages/{messageId}/reactions/{emoji}", .user)
  public static let removeReaction = Endpoint(
    .delete, "/v1/rooms/{roomId}/messages/{messageId}/reactions/{emoji}", .user)
  public static let listReactions = Endpoint(
    .get, "/v1/rooms/{roomId}/messages/{messageId}/reactions", .user, query: ["cursor", "limit"])
  public static let messageHistory = Endpoint(
    .get, "/v1/rooms/{roomId}/messages/{messageId}/history", .user, query: ["cursor", "limit"])
  public static let listPins = Endpoint(.get, "/v1/rooms/{roomId}/pins", .user, query: ["cursor"])
  public static let pinMessage = Endpoint(.put, "/v1/rooms/{roomId}/pins/{messageId}", .user)
  public static let unpinMessage = Endpoint(.delete, "/v1/rooms/{roomId}/pins/{messageId}", .user)
  public static let getBadge = Endpoint(.get, "/v1/badge", .user)

  // MARK: Media
  public static let uploadMedia = Endpoint(.post, "/v1/media", .user, query: ["name"])
  public static let getMedia = Endpoint(.get, "/v1/media/{mediaId}", .userOrService)
  public static let getThumbnail = Endpoint(.get, "/v1/media/{mediaId}/thumbnail", .userOrService, query: ["width"])

  // MARK: Scheduled messages
  public static let scheduleMessage = Endpoint(
    .put, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user)
  public static let changeScheduledMessage = Endpoint(
    .patch, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user, takesIfMatch: true)
  public static let cancelScheduledMessage = Endpoint(
    .delete, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user, takesIfMatch: true)
  public static let getScheduledMessage = Endpoint(
    .get, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user)
  public static let listScheduledMessages = Endpoint(
    .get, "/v1/rooms/{roomId}/scheduled-messages", .user, query: ["cursor"])
  public static let listAllScheduledMessages = Endpoint(
    .get, "/v1/scheduled-messages", .user, query: ["cursor", "limit"])

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
    createAccount, createSession, refreshSession, listSessions, endSession, endSessions, getMe, updateMe,
    getPreferences, updatePreferences,
    changePassword, linkIdentity, unlinkIdentity, resetPassword, getUser, signingKeys,
    findUsers, requestPasswordReset, disableUser, enableUser, listUserSessions, endUserSessions, rotateSigningKey,
    confirmClock,
    listDevices, putDevice, getDevice, deleteDevice,
    createRoom, listRooms, getRoom, updateRoom, deleteRoom, archiveRoom, unarchiveRoom, transferRoom,
    listMembers, addMember, removeMember, joinRoom, leaveRoom, muteRoom,
    changeMemberRole, silenceMember, listBans, banUser, unbanUser, getJoinHistory,
    createWorkspace, listWorkspaces, getWorkspace, updateWorkspace, deleteWorkspace, transferWorkspace, listChannels,
    listWorkspaceMembers, removeWorkspaceMember, changeWorkspaceRole, joinWorkspace, leaveWorkspace,
    createWorkspaceInvite, listWorkspaceInvites, revokeWorkspaceInvite,
    listInvitations, inviteUser, withdrawInvitation, listMyInvitations, declineInvitation,
    createInvite, listInvites, revokeInvite, previewInvite, acceptInvite,
    listMessages, sendMessage, getMessage, editMessage, deleteMessage, moveReadMarker, listReadMarkers, markUnread,
    getBadge,
    scheduleMessage, changeScheduledMessage, cancelScheduledMessage, getScheduledMessage, listScheduledMessages,
    listAllScheduledMessages,
    uploadMedia, getMedia, getThumbnail,
    listThread, moveThreadMarker, followThread, listThreads, addReaction, removeReaction, listReactions,
    messageHistory, listPins, pinMessage, unpinMessage,
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
