/// The whole API. The server's route table and `docs/openapi.yaml` are tested against this list.
public enum Endpoints {
  // MARK: Accounts and sessions
  public static let createAccount = Endpoint<CreateAccountRequest, Account>(.post, "/v1/accounts", .open)
  public static let createSession = Endpoint<CreateSessionRequest, Tokens>(.post, "/v1/sessions", .open)
  public static let refreshSession = Endpoint<RefreshSessionRequest, Tokens>(
    .post, "/v1/sessions/refresh", .open, ignoresTokens: true)
  public static let listSessions = Endpoint<NoBody, SessionList>(.get, "/v1/sessions", .user)
  public static let endSession = Endpoint<NoBody, Session>(.delete, "/v1/sessions/{sessionId}", .user)
  public static let endSessions = Endpoint<NoBody, EndedSessions>(.delete, "/v1/sessions", .user, query: ["all"])
  public static let getMe = Endpoint<NoBody, Account>(.get, "/v1/me", .user)
  public static let updateMe = Endpoint<UpdateMeRequest, Account>(.patch, "/v1/me", .user, takesIfMatch: true)
  public static let deleteMe = Endpoint<DeleteAccountRequest, AccountErasure>(.delete, "/v1/me", .user)
  public static let changePassword = Endpoint<ChangePasswordRequest, Account>(.put, "/v1/me/password", .user)
  public static let linkIdentity = Endpoint<LinkIdentityRequest, Account>(.post, "/v1/me/identities", .user)
  public static let unlinkIdentity = Endpoint<NoBody, Account>(
    .delete, "/v1/me/identities", .user, query: ["issuer", "subject"])
  public static let resetPassword = Endpoint<ResetPasswordRequest, Account>(
    .post, "/v1/password-resets", .open, ignoresTokens: true)
  public static let getPreferences = Endpoint<NoBody, Preferences>(.get, "/v1/me/preferences", .user)
  public static let updatePreferences = Endpoint<UpdatePreferencesRequest, PreferencesReceipt>(
    .patch, "/v1/me/preferences", .user)
  public static let listBlockedUsers = Endpoint<NoBody, BlockedUserList>(
    .get, "/v1/me/blocked-users", .user, query: ["cursor", "limit"])
  public static let blockUser = Endpoint<NoBody, BlockReceipt>(.put, "/v1/me/blocked-users/{userId}", .user)
  public static let unblockUser = Endpoint<NoBody, BlockReceipt>(.delete, "/v1/me/blocked-users/{userId}", .user)
  public static let getUser = Endpoint<NoBody, PublicProfile>(.get, "/v1/users/{userId}", .userOrService)
  public static let getUsers = Endpoint<NoBody, PublicProfileList>(
    .get, "/v1/users", .userOrService, query: ["ids", "email", "externalId", "nickname", "limit"])
  public static let signingKeys = Endpoint<NoBody, SigningKeySet>(
    .get, "/.well-known/jwks.json", .open, ignoresTokens: true)

  // MARK: Administration of accounts
  public static let findUsers = Endpoint<NoBody, UserList>(.get, "/v1/admin/users", .service, query: ["externalId"])
  public static let requestPasswordReset = Endpoint<NoBody, PasswordResetToken>(
    .post, "/v1/admin/users/{userId}/password-reset", .service)
  public static let disableUser = Endpoint<NoBody, Account>(.post, "/v1/admin/users/{userId}/disable", .service)
  public static let enableUser = Endpoint<NoBody, Account>(.post, "/v1/admin/users/{userId}/enable", .service)
  public static let listUserSessions = Endpoint<NoBody, SessionList>(
    .get, "/v1/admin/users/{userId}/sessions", .service)
  public static let endUserSessions = Endpoint<NoBody, EndedSessions>(
    .delete, "/v1/admin/users/{userId}/sessions", .service)
  public static let rotateSigningKey = Endpoint<NoBody, SigningKeyRotation>(
    .post, "/v1/admin/signing-keys/rotate", .service)

  public static let deleteUser = Endpoint<NoBody, AccountErasure>(.delete, "/v1/admin/users/{userId}", .service)
  public static let listErasures = Endpoint<NoBody, ErasureList>(
    .get, "/v1/admin/erasures", .service, query: ["cursor", "limit"])
  public static let getErasure = Endpoint<NoBody, AccountErasure>(.get, "/v1/admin/erasures/{userId}", .service)
  public static let listLegalHolds = Endpoint<NoBody, LegalHoldList>(
    .get, "/v1/admin/legal-holds", .service, query: ["cursor", "limit"])
  public static let holdUser = Endpoint<PlaceLegalHoldRequest, LegalHold>(
    .put, "/v1/admin/legal-holds/users/{userId}", .service)
  public static let releaseUser = Endpoint<NoBody, LegalHold>(
    .delete, "/v1/admin/legal-holds/users/{userId}", .service)
  public static let holdRoom = Endpoint<PlaceLegalHoldRequest, LegalHold>(
    .put, "/v1/admin/legal-holds/rooms/{roomId}", .service)
  public static let releaseRoom = Endpoint<NoBody, LegalHold>(
    .delete, "/v1/admin/legal-holds/rooms/{roomId}", .service)

  // MARK: Administration of the server
  public static let confirmClock = Endpoint<NoBody, ClockReadiness>(.post, "/v1/admin/clock/confirm", .service)
  public static let listProjections = Endpoint<NoBody, ReadModelList>(.get, "/v1/admin/projections", .service)
  /// 202: the rebuild continues after the response.
  public static let rebuildProjection = Endpoint<NoBody, ReadModelState>(
    .post, "/v1/admin/projections/{name}/rebuild", .service)
  public static let cancelProjectionRebuild = Endpoint<NoBody, ReadModelState>(
    .delete, "/v1/admin/projections/{name}/rebuild", .service)
  public static let explainPush = Endpoint<NoBody, PushDecisions>(
    .get, "/v1/admin/push/explain", .service, query: ["position", "userId"])

  // MARK: Devices
  public static let listDevices = Endpoint<NoBody, DeviceList>(.get, "/v1/devices", .user)
  public static let putDevice = Endpoint<PutDeviceRequest, Device>(
    .put, "/v1/devices/{deviceId}", .user, takesIfMatch: true)
  public static let getDevice = Endpoint<NoBody, Device>(.get, "/v1/devices/{deviceId}", .user)
  public static let deleteDevice = Endpoint<NoBody, Device>(
    .delete, "/v1/devices/{deviceId}", .user, takesIfMatch: true)

  // MARK: Rooms and members
  public static let createRoom = Endpoint<CreateRoomRequest, Room>(.post, "/v1/rooms", .userOrService)
  public static let listRooms = Endpoint<NoBody, RoomList>(
    .get, "/v1/rooms", .user, query: ["archived", "hidden", "kind", "workspaceId", "cursor", "limit"])
  public static let getRoom = Endpoint<NoBody, Room>(.get, "/v1/rooms/{roomId}", .user)
  public static let updateRoom = Endpoint<UpdateRoomRequest, Room>(
    .patch, "/v1/rooms/{roomId}", .userOrService, takesIfMatch: true)
  public static let deleteRoom = Endpoint<NoBody, RoomReceipt>(
    .delete, "/v1/rooms/{roomId}", .userOrService, takesIfMatch: true)
  public static let archiveRoom = Endpoint<NoBody, Room>(
    .post, "/v1/rooms/{roomId}/archive", .userOrService, takesIfMatch: true)
  public static let unarchiveRoom = Endpoint<NoBody, Room>(
    .post, "/v1/rooms/{roomId}/unarchive", .userOrService, takesIfMatch: true)
  public static let transferRoom = Endpoint<TransferRequest, Membership>(
    .post, "/v1/rooms/{roomId}/transfer", .userOrService)
  public static let listMembers = Endpoint<NoBody, MemberList>(
    .get, "/v1/rooms/{roomId}/members", .user, query: ["cursor", "limit"])
  public static let addMember = Endpoint<NoBody, Membership>(
    .put, "/v1/rooms/{roomId}/members/{userId}", .userOrService)
  public static let removeMember = Endpoint<NoBody, Membership>(
    .delete, "/v1/rooms/{roomId}/members/{userId}", .userOrService)
  public static let joinRoom = Endpoint<NoBody, Membership>(.post, "/v1/rooms/{roomId}/join", .user)
  public static let leaveRoom = Endpoint<NoBody, Membership>(.post, "/v1/rooms/{roomId}/leave", .user)
  public static let muteRoom = Endpoint<MuteRoomRequest, Room>(.put, "/v1/rooms/{roomId}/mute", .user)
  public static let setRoomNotifications = Endpoint<SetRoomNotificationsRequest, Room>(
    .put, "/v1/rooms/{roomId}/notifications", .user)
  public static let hideRoom = Endpoint<HideRoomRequest, Room>(.put, "/v1/rooms/{roomId}/hidden", .user)

  // MARK: Moderation
  public static let changeMemberRole = Endpoint<RoomRoleRequest, Membership>(
    .put, "/v1/rooms/{roomId}/members/{userId}/role", .userOrService)
  public static let silenceMember = Endpoint<SilenceRequest, Membership>(
    .put, "/v1/rooms/{roomId}/members/{userId}/silence", .userOrService)
  public static let listBans = Endpoint<NoBody, BanList>(
    .get, "/v1/rooms/{roomId}/bans", .user, query: ["cursor", "limit"])
  public static let banUser = Endpoint<NoBody, Membership>(.put, "/v1/rooms/{roomId}/bans/{userId}", .userOrService)
  public static let unbanUser = Endpoint<NoBody, Membership>(
    .delete, "/v1/rooms/{roomId}/bans/{userId}", .userOrService)
  public static let getJoinHistory = Endpoint<NoBody, JoinHistory>(
    .get, "/v1/rooms/{roomId}/join-history", .user, query: ["cursor", "limit"])

  // MARK: Reports
  public static let fileReport = Endpoint<FileReportRequest, Report>(.post, "/v1/rooms/{roomId}/reports", .user)
  public static let listReports = Endpoint<NoBody, ReportList>(
    .get, "/v1/rooms/{roomId}/reports", .userOrService, query: ["status", "cursor", "limit"])
  public static let getReport = Endpoint<NoBody, Report>(.get, "/v1/rooms/{roomId}/reports/{reportId}", .userOrService)
  public static let resolveReport = Endpoint<ResolveReportRequest, Report>(
    .post, "/v1/rooms/{roomId}/reports/{reportId}/resolve", .userOrService, takesIfMatch: true)
  public static let reopenReport = Endpoint<NoBody, Report>(
    .post, "/v1/rooms/{roomId}/reports/{reportId}/reopen", .userOrService, takesIfMatch: true)
  public static let listWorkspaceReports = Endpoint<NoBody, ReportList>(
    .get, "/v1/workspaces/{workspaceId}/reports", .userOrService, query: ["status", "cursor", "limit"])
  public static let listAllReports = Endpoint<NoBody, ReportList>(
    .get, "/v1/admin/reports", .service, query: ["status", "cursor", "limit"])

  // MARK: Workspaces
  public static let createWorkspace = Endpoint<CreateWorkspaceRequest, Workspace>(.post, "/v1/workspaces", .user)
  public static let listWorkspaces = Endpoint<NoBody, WorkspaceList>(
    .get, "/v1/workspaces", .user, query: ["cursor", "limit"])
  public static let getWorkspace = Endpoint<NoBody, Workspace>(.get, "/v1/workspaces/{workspaceId}", .user)
  public static let updateWorkspace = Endpoint<UpdatePlaceRequest, Workspace>(
    .patch, "/v1/workspaces/{workspaceId}", .userOrService, takesIfMatch: true)
  public static let deleteWorkspace = Endpoint<NoBody, WorkspaceReceipt>(
    .delete, "/v1/workspaces/{workspaceId}", .userOrService, takesIfMatch: true)
  public static let transferWorkspace = Endpoint<TransferRequest, WorkspaceMembership>(
    .post, "/v1/workspaces/{workspaceId}/transfer", .userOrService)
  public static let listChannels = Endpoint<NoBody, RoomList>(
    .get, "/v1/workspaces/{workspaceId}/channels", .user, query: ["cursor", "limit"])
  public static let listWorkspaceMembers = Endpoint<NoBody, WorkspaceMemberList>(
    .get, "/v1/workspaces/{workspaceId}/members", .user, query: ["cursor", "limit"])
  public static let removeWorkspaceMember = Endpoint<NoBody, WorkspaceMembership>(
    .delete, "/v1/workspaces/{workspaceId}/members/{userId}", .userOrService)
  public static let changeWorkspaceRole = Endpoint<WorkspaceRoleRequest, WorkspaceMembership>(
    .put, "/v1/workspaces/{workspaceId}/members/{userId}/role", .userOrService)
  public static let joinWorkspace = Endpoint<NoBody, WorkspaceMembership>(
    .post, "/v1/workspaces/{workspaceId}/join", .user)
  public static let leaveWorkspace = Endpoint<NoBody, WorkspaceMembership>(
    .post, "/v1/workspaces/{workspaceId}/leave", .user)
  public static let createWorkspaceInvite = Endpoint<CreateInviteRequest, WorkspaceInvite>(
    .post, "/v1/workspaces/{workspaceId}/invites", .userOrService)
  public static let listWorkspaceInvites = Endpoint<NoBody, WorkspaceInviteList>(
    .get, "/v1/workspaces/{workspaceId}/invites", .user, query: ["cursor", "limit"])
  public static let revokeWorkspaceInvite = Endpoint<NoBody, WorkspaceInvite>(
    .delete, "/v1/workspaces/{workspaceId}/invites/{inviteId}", .userOrService)
  public static let listInvitations = Endpoint<NoBody, InvitationList>(
    .get, "/v1/workspaces/{workspaceId}/invitations", .user, query: ["cursor", "limit"])
  public static let inviteUser = Endpoint<WorkspaceRoleRequest, WorkspaceMembership>(
    .put, "/v1/workspaces/{workspaceId}/invitations/{userId}", .userOrService)
  public static let withdrawInvitation = Endpoint<NoBody, WorkspaceMembership>(
    .delete, "/v1/workspaces/{workspaceId}/invitations/{userId}", .userOrService)
  public static let listMyInvitations = Endpoint<NoBody, InvitationList>(
    .get, "/v1/me/invitations", .user, query: ["cursor", "limit"])
  public static let declineInvitation = Endpoint<NoBody, WorkspaceMembership>(
    .delete, "/v1/me/invitations/{workspaceId}", .user)

  // MARK: Sharing
  public static let createInvite = Endpoint<CreateInviteRequest, Invite>(
    .post, "/v1/rooms/{roomId}/invites", .userOrService)
  public static let listInvites = Endpoint<NoBody, InviteList>(
    .get, "/v1/rooms/{roomId}/invites", .user, query: ["cursor", "limit"])
  public static let revokeInvite = Endpoint<NoBody, Invite>(
    .delete, "/v1/rooms/{roomId}/invites/{inviteId}", .userOrService)
  public static let previewInvite = Endpoint<NoBody, InvitePreview>(.get, "/v1/invites/{token}", .user)
  public static let acceptInvite = Endpoint<NoBody, Acceptance>(.post, "/v1/invites/{token}/accept", .user)

  // MARK: Messages and read markers
  public static let listMessages = Endpoint<NoBody, MessagePage>(
    .get, "/v1/rooms/{roomId}/messages", .user, query: ["before", "after", "around", "type", "limit"])
  public static let sendMessage = Endpoint<SendMessageRequest, Message>(
    .put, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let getMessage = Endpoint<NoBody, Message>(.get, "/v1/rooms/{roomId}/messages/{messageId}", .user)
  public static let editMessage = Endpoint<EditMessageRequest, Message>(
    .patch, "/v1/rooms/{roomId}/messages/{messageId}", .user, takesIfMatch: true)
  public static let deleteMessage = Endpoint<NoBody, Message>(
    .delete, "/v1/rooms/{roomId}/messages/{messageId}", .userOrService, takesIfMatch: true)
  public static let moveReadMarker = Endpoint<MoveReadMarkerRequest, ReadMarker>(
    .put, "/v1/rooms/{roomId}/read-marker", .user)
  public static let listReadMarkers = Endpoint<NoBody, ReadReceiptList>(
    .get, "/v1/rooms/{roomId}/read-markers", .user, query: ["cursor", "limit"])
  public static let markUnread = Endpoint<MarkUnreadRequest, UnreadMark>(.put, "/v1/rooms/{roomId}/unread-mark", .user)
  public static let listThread = Endpoint<NoBody, ThreadPage>(
    .get, "/v1/rooms/{roomId}/messages/{messageId}/thread", .user,
    query: ["before", "after", "around", "type", "limit"])
  public static let moveThreadMarker = Endpoint<MoveReadMarkerRequest, ThreadMarker>(
    .put, "/v1/rooms/{roomId}/messages/{messageId}/thread/read-marker", .user)
  public static let followThread = Endpoint<FollowThreadRequest, ThreadFollowing>(
    .put, "/v1/rooms/{roomId}/messages/{messageId}/thread/following", .user)
  public static let listThreads = Endpoint<NoBody, ThreadList>(
    .get, "/v1/threads", .user, query: ["kind", "workspaceId", "cursor", "limit"])
  public static let addReaction = Endpoint<NoBody, ReactionReceipt>(
    .put, "/v1/rooms/{roomId}/messages/{messageId}/reactions/{emoji}", .user)
  public static let removeReaction = Endpoint<NoBody, ReactionReceipt>(
    .delete, "/v1/rooms/{roomId}/messages/{messageId}/reactions/{emoji}", .user)
  public static let listReactions = Endpoint<NoBody, ReactionList>(
    .get, "/v1/rooms/{roomId}/messages/{messageId}/reactions", .user, query: ["cursor", "limit"])
  public static let messageHistory = Endpoint<NoBody, MessageHistory>(
    .get, "/v1/rooms/{roomId}/messages/{messageId}/history", .user, query: ["cursor", "limit"])
  public static let listPins = Endpoint<NoBody, PinList>(.get, "/v1/rooms/{roomId}/pins", .user, query: ["cursor"])
  public static let pinMessage = Endpoint<NoBody, PinReceipt>(.put, "/v1/rooms/{roomId}/pins/{messageId}", .user)
  public static let unpinMessage = Endpoint<NoBody, PinReceipt>(.delete, "/v1/rooms/{roomId}/pins/{messageId}", .user)
  public static let getBadge = Endpoint<NoBody, Badge>(.get, "/v1/badge", .user)
  public static let explainBadge = Endpoint<NoBody, BadgeExplanation>(
    .get, "/v1/badge/explain", .user, query: ["cursor", "limit"])

  // MARK: Typing, presence and open rooms
  public static let setTyping = Endpoint<SetTypingRequest, TypingStatus>(.put, "/v1/rooms/{roomId}/typing", .user)
  public static let setPresence = Endpoint<SetPresenceRequest, PresenceStatus>(.put, "/v1/me/presence", .user)
  public static let setOpenRooms = Endpoint<SetOpenRoomsRequest, OpenRoomList>(.put, "/v1/me/open-rooms", .user)

  // MARK: Media
  public static let uploadMedia = Endpoint<FileBytes, UploadedMedia>(.post, "/v1/media", .user, query: ["name"])
  public static let signMedia = Endpoint<SignMediaRequest, SignedMediaList>(.post, "/v1/media/urls", .user)
  public static let getMedia = Endpoint<NoBody, FileBytes>(
    .get, "/v1/media/{mediaId}", .userOrService, query: ["signature"])
  public static let getThumbnail = Endpoint<NoBody, FileBytes>(
    .get, "/v1/media/{mediaId}/thumbnail", .userOrService, query: ["width", "signature"])

  // MARK: Scheduled messages
  public static let scheduleMessage = Endpoint<ScheduleMessageRequest, ScheduledMessage>(
    .put, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user)
  public static let changeScheduledMessage = Endpoint<ChangeScheduledMessageRequest, SchedulingReceipt>(
    .patch, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user, takesIfMatch: true)
  public static let cancelScheduledMessage = Endpoint<NoBody, SchedulingReceipt>(
    .delete, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user, takesIfMatch: true)
  public static let getScheduledMessage = Endpoint<NoBody, ScheduledMessage>(
    .get, "/v1/rooms/{roomId}/scheduled-messages/{messageId}", .user)
  public static let listScheduledMessages = Endpoint<NoBody, ScheduledMessagePage>(
    .get, "/v1/rooms/{roomId}/scheduled-messages", .user, query: ["cursor"])
  public static let listAllScheduledMessages = Endpoint<NoBody, ScheduledMessagePage>(
    .get, "/v1/scheduled-messages", .user, query: ["cursor", "limit"])

  // MARK: Sync
  public static let sync = Endpoint<NoBody, SyncPage>(
    .get, "/v1/sync", .user, query: ["since", "limit", "wait", "perRoom", "rooms", "include"])
  public static let createStreamTicket = Endpoint<NoBody, StreamTicket>(.post, "/v1/sync/tickets", .user)
  public static let syncStream = Endpoint<NoBody, EventStream>(
    .get, "/v1/sync/stream", .user, query: ["since", "perRoom", "rooms", "include", "ticket"])
  /// A client that cannot send a header authenticates with its first message, so the request itself needs no token.
  public static let syncSocket = Endpoint<NoBody, SocketMessages>(
    .get, "/v1/sync/socket", .open, query: ["since", "perRoom", "rooms", "include", "ticket"], ignoresTokens: true)

  // MARK: Search
  public static let search = Endpoint<NoBody, SearchResults>(
    .get, "/v1/search", .user,
    query: ["q", "roomId", "senderId", "since", "until", "hasMedia", "type", "limit", "cursor"])

  // MARK: Bulk ingest
  public static let ingest = Endpoint<Lines<IngestLine>, Lines<IngestResult>>(.post, "/v1/ingest", .userOrService)

  // MARK: The server itself
  public static let overview = Endpoint<NoBody, ServerOverview>(.get, "/", .open, ignoresTokens: true)
  public static let health = Endpoint<NoBody, Health>(.get, "/healthz", .open, ignoresTokens: true)
  public static let readiness = Endpoint<NoBody, Readiness>(.get, "/readyz", .open, ignoresTokens: true)
  public static let openAPIDocument = Endpoint<NoBody, OpenAPIDocument>(
    .get, "/openapi.yaml", .open, ignoresTokens: true)

  /// Served only if the operator enables it, as a baseline for measurements. It is not part of the API.
  public static let bench = Endpoint<SendMessageRequest, Message>(.put, "/bench/messages/{messageId}", .user)

  public static let all: [AnyEndpoint] = erased([
    createAccount, createSession, refreshSession, listSessions, endSession, endSessions, getMe, updateMe,
    getPreferences, updatePreferences, listBlockedUsers, blockUser, unblockUser,
    deleteMe, changePassword, linkIdentity, unlinkIdentity, resetPassword, getUser, getUsers, signingKeys,
    findUsers, requestPasswordReset, disableUser, enableUser, listUserSessions, endUserSessions, rotateSigningKey,
    deleteUser, listErasures, getErasure, listLegalHolds, holdUser, releaseUser, holdRoom, releaseRoom,
    confirmClock, listProjections, rebuildProjection, cancelProjectionRebuild, explainPush,
    listDevices, putDevice, getDevice, deleteDevice,
    createRoom, listRooms, getRoom, updateRoom, deleteRoom, archiveRoom, unarchiveRoom, transferRoom,
    listMembers, addMember, removeMember, joinRoom, leaveRoom, muteRoom, setRoomNotifications, hideRoom,
    changeMemberRole, silenceMember, listBans, banUser, unbanUser, getJoinHistory,
    fileReport, listReports, getReport, resolveReport, reopenReport, listWorkspaceReports, listAllReports,
    createWorkspace, listWorkspaces, getWorkspace, updateWorkspace, deleteWorkspace, transferWorkspace, listChannels,
    listWorkspaceMembers, removeWorkspaceMember, changeWorkspaceRole, joinWorkspace, leaveWorkspace,
    createWorkspaceInvite, listWorkspaceInvites, revokeWorkspaceInvite,
    listInvitations, inviteUser, withdrawInvitation, listMyInvitations, declineInvitation,
    createInvite, listInvites, revokeInvite, previewInvite, acceptInvite,
    listMessages, sendMessage, getMessage, editMessage, deleteMessage, moveReadMarker, listReadMarkers, markUnread,
    getBadge, explainBadge, setTyping, setPresence, setOpenRooms,
    scheduleMessage, changeScheduledMessage, cancelScheduledMessage, getScheduledMessage, listScheduledMessages,
    listAllScheduledMessages,
    uploadMedia, signMedia, getMedia, getThumbnail,
    listThread, moveThreadMarker, followThread, listThreads, addReaction, removeReaction, listReactions,
    messageHistory, listPins, pinMessage, unpinMessage,
    sync, createStreamTicket, syncStream, syncSocket, search, ingest, overview, health, readiness,
    openAPIDocument,
  ])

  private static func erased(_ endpoints: [any ErasableEndpoint]) -> [AnyEndpoint] { endpoints.map(\.erased) }
}

/// An endpoint of any types, so that one list can contain all endpoints.
private protocol ErasableEndpoint {
  var erased: AnyEndpoint { get }
}

extension Endpoint: ErasableEndpoint {}
