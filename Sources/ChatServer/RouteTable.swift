import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird

/// One entry of the route table. A handler has the types of its endpoint, so it can read only the declared body, and
/// its response has the declared shape.
struct Route: Sendable {
  typealias Handler = @Sendable (Handlers, HansardRequestContext) async throws -> Response

  let endpoint: AnyEndpoint
  let handle: Handler

  private init(_ endpoint: AnyEndpoint, handle: @escaping Handler) {
    self.endpoint = endpoint
    self.handle = handle
  }

  init<Shape>(
    _ endpoint: Endpoint<NoBody, Shape>,
    _ handle: @escaping @Sendable (Handlers, HansardRequestContext) async throws -> TypedResponse<Shape>
  ) {
    self.init(endpoint.erased) { try await handle($0, $1).response }
  }

  init<Body, Shape>(
    _ endpoint: Endpoint<Body, Shape>,
    _ handle:
      @escaping @Sendable (Handlers, HansardRequestContext, TypedBody<Body>) async throws -> TypedResponse<Shape>
  ) {
    self.init(endpoint.erased) { try await handle($0, $1, TypedBody(of: $1)).response }
  }

  /// The same route, with `endCursor` at the end of lists in its responses.
  func ending(lists endCursor: EndCursor) -> Route {
    guard endCursor != .null else { return self }
    return Route(endpoint) { (handlers: Handlers, context: HansardRequestContext) in
      try await JSONBody.$endCursor.withValue(endCursor) { try await handle(handlers, context) }
    }
  }
}

/// The handlers of all routes.
struct Handlers: Sendable {
  let accounts: AccountHandlers
  let people: PeopleHandlers
  let passwords: PasswordHandlers
  let sessions: SessionHandlers
  let administration: AccountAdministrationHandlers
  let erasures: ErasureHandlers
  let signingKeys: SigningKeyHandlers
  let devices: DeviceHandlers
  let rooms: RoomHandlers
  let members: MemberHandlers
  let reports: ReportHandlers
  let invites: InviteHandlers
  let workspaces: WorkspaceHandlers
  let invitations: InvitationHandlers
  let messages: MessageHandlers
  let media: MediaHandlers
  let badges: BadgeHandlers
  let reading: ReadingHandlers
  let preferences: PreferenceHandlers
  let presence: PresenceHandlers
  let blocks: BlockHandlers
  let scheduling: SchedulingHandlers
  let search: SearchHandlers
  let sync: SyncHandlers
  let threads: ThreadHandlers
  let reactions: ReactionHandlers
  let pins: PinHandlers
  let ingest: IngestHandler
  let health: HealthHandlers
  let push: PushHandlers
  let readModels: ReadModelHandlers
  let overview = OverviewHandler()
  let openAPI = OpenAPIHandler()
  let bench = BenchHandler()

  init(
    chat: ChatService, issuer: TokenIssuer, identities: IdentityProviders, logins: LoginSettings,
    hashing: HashingLimit, searches: SearchBudget, people: PeopleLimit, limiter: RateLimiter, reads: ReadSlots,
    tickets: StreamTickets, streams: StreamOpening, origins: OriginRule, deepLink: DeepLink,
    allowsWebPushEndpoint: (@Sendable (_ endpoint: String) -> Bool)?, push: (@Sendable () -> PushStatus)?,
    pushExplanation: @escaping EventExplanation
  ) {
    let throttle = LoginThrottle(logins)
    accounts = AccountHandlers(chat: chat, identities: identities, throttle: throttle, hashing: hashing)
    self.people = PeopleHandlers(chat: chat, limit: people)
    passwords = PasswordHandlers(chat: chat, throttle: throttle, hashing: hashing)
    sessions = SessionHandlers(chat: chat, issuer: issuer, identities: identities, throttle: throttle, hashing: hashing)
    administration = AccountAdministrationHandlers(chat: chat)
    readModels = ReadModelHandlers(chat: chat)
    erasures = ErasureHandlers(chat: chat, identities: identities, throttle: throttle, hashing: hashing)
    signingKeys = SigningKeyHandlers(chat: chat, issuer: issuer)
    devices = DeviceHandlers(chat: chat, allowsWebPushEndpoint: allowsWebPushEndpoint)
    rooms = RoomHandlers(chat: chat)
    members = MemberHandlers(chat: chat)
    reports = ReportHandlers(chat: chat)
    invites = InviteHandlers(chat: chat, deepLink: deepLink, throttle: InviteCodeThrottle(logins))
    workspaces = WorkspaceHandlers(chat: chat)
    invitations = InvitationHandlers(chat: chat, deepLink: deepLink, workspaces: workspaces)
    messages = MessageHandlers(chat: chat)
    media = MediaHandlers(chat: chat, reads: reads)
    badges = BadgeHandlers(chat: chat)
    reading = ReadingHandlers(chat: chat)
    preferences = PreferenceHandlers(chat: chat)
    presence = PresenceHandlers(chat: chat)
    blocks = BlockHandlers(chat: chat)
    scheduling = SchedulingHandlers(chat: chat)
    search = SearchHandlers(chat: chat, budget: searches)
    sync = SyncHandlers(chat: chat, tickets: tickets, streams: streams, origins: origins)
    threads = ThreadHandlers(chat: chat)
    reactions = ReactionHandlers(chat: chat)
    pins = PinHandlers(chat: chat)
    ingest = IngestHandler(chat: chat, limiter: limiter)
    health = HealthHandlers(chat: chat, push: push)
    self.push = PushHandlers(chat: chat, explanation: pushExplanation)
  }
}

/// Every endpoint with its handler. To add one, add a line to `Endpoints`, a handler, and a line here.
enum RouteTable {
  static let routes: [Route] = [
    Route(Endpoints.createAccount) { try await $0.accounts.create($1, $2) },
    Route(Endpoints.getMe) { try await $0.accounts.me($1) },
    Route(Endpoints.updateMe) { try await $0.accounts.updateMe($1, $2) },
    Route(Endpoints.deleteMe) { try await $0.erasures.deleteMe($1, $2) },
    Route(Endpoints.changePassword) { try await $0.passwords.change($1, $2) },
    Route(Endpoints.linkIdentity) { try await $0.accounts.linkIdentity($1, $2) },
    Route(Endpoints.unlinkIdentity) { try await $0.accounts.unlinkIdentity($1) },
    Route(Endpoints.resetPassword) { try await $0.passwords.reset($1, $2) },
    Route(Endpoints.getUser) { try await $0.accounts.profile($1) },
    Route(Endpoints.getUsers) { try await $0.people.list($1) },
    Route(Endpoints.signingKeys) { try await $0.signingKeys.list($1) },
    Route(Endpoints.findUsers) { try await $0.administration.find($1) },
    Route(Endpoints.requestPasswordReset) { try await $0.passwords.request($1) },
    Route(Endpoints.disableUser) { try await $0.administration.disable($1) },
    Route(Endpoints.enableUser) { try await $0.administration.enable($1) },
    Route(Endpoints.listUserSessions) { try await $0.administration.sessions($1) },
    Route(Endpoints.endUserSessions) { try await $0.administration.endSessions($1) },
    Route(Endpoints.rotateSigningKey) { try await $0.signingKeys.rotate($1) },
    Route(Endpoints.deleteUser) { try await $0.erasures.deleteUser($1) },
    Route(Endpoints.listErasures) { try await $0.erasures.list($1) },
    Route(Endpoints.getErasure) { try await $0.erasures.get($1) },
    Route(Endpoints.listLegalHolds) { try await $0.erasures.listHolds($1) },
    Route(Endpoints.holdUser) { try await $0.erasures.holdUser($1, $2) },
    Route(Endpoints.releaseUser) { try await $0.erasures.releaseUser($1) },
    Route(Endpoints.holdRoom) { try await $0.erasures.holdRoom($1, $2) },
    Route(Endpoints.releaseRoom) { try await $0.erasures.releaseRoom($1) },
    Route(Endpoints.confirmClock) { try await $0.health.confirmClock($1) },
    Route(Endpoints.listProjections) { try await $0.readModels.list($1) },
    Route(Endpoints.rebuildProjection) { try await $0.readModels.rebuild($1) },
    Route(Endpoints.cancelProjectionRebuild) { try await $0.readModels.cancel($1) },
    Route(Endpoints.explainPush) { try await $0.push.explain($1) },
    Route(Endpoints.createSession) { try await $0.sessions.create($1, $2) },
    Route(Endpoints.refreshSession) { try await $0.sessions.refresh($1, $2) },
    Route(Endpoints.listSessions) { try await $0.sessions.list($1) },
    Route(Endpoints.endSession) { try await $0.sessions.end($1) },
    Route(Endpoints.endSessions) { try await $0.sessions.endMany($1) },
    Route(Endpoints.listDevices) { try await $0.devices.list($1) },
    Route(Endpoints.putDevice) { try await $0.devices.put($1, $2) },
    Route(Endpoints.getDevice) { try await $0.devices.get($1) },
    Route(Endpoints.deleteDevice) { try await $0.devices.delete($1) },
    Route(Endpoints.createRoom) { try await $0.rooms.create($1, $2) },
    Route(Endpoints.listRooms) { try await $0.rooms.list($1) },
    Route(Endpoints.getRoom) { try await $0.rooms.get($1) },
    Route(Endpoints.updateRoom) { try await $0.rooms.update($1, $2) },
    Route(Endpoints.deleteRoom) { try await $0.rooms.delete($1) },
    Route(Endpoints.archiveRoom) { try await $0.rooms.archive($1) },
    Route(Endpoints.unarchiveRoom) { try await $0.rooms.unarchive($1) },
    Route(Endpoints.transferRoom) { try await $0.members.transfer($1, $2) },
    Route(Endpoints.muteRoom) { try await $0.rooms.mute($1, $2) },
    Route(Endpoints.setRoomNotifications) { try await $0.rooms.setNotifications($1, $2) },
    Route(Endpoints.hideRoom) { try await $0.rooms.setHidden($1, $2) },
    Route(Endpoints.getBadge) { try await $0.badges.get($1) },
    Route(Endpoints.explainBadge) { try await $0.badges.explain($1) },
    Route(Endpoints.listMembers) { try await $0.members.list($1) },
    Route(Endpoints.addMember) { try await $0.members.add($1) },
    Route(Endpoints.removeMember) { try await $0.members.remove($1) },
    Route(Endpoints.joinRoom) { try await $0.members.join($1) },
    Route(Endpoints.leaveRoom) { try await $0.members.leave($1) },
    Route(Endpoints.changeMemberRole) { try await $0.members.changeRole($1, $2) },
    Route(Endpoints.silenceMember) { try await $0.members.silence($1, $2) },
    Route(Endpoints.listBans) { try await $0.members.bans($1) },
    Route(Endpoints.banUser) { try await $0.members.ban($1) },
    Route(Endpoints.unbanUser) { try await $0.members.unban($1) },
    Route(Endpoints.getJoinHistory) { try await $0.members.joinHistory($1) },
    Route(Endpoints.fileReport) { try await $0.reports.file($1, $2) },
    Route(Endpoints.listReports) { try await $0.reports.list($1) },
    Route(Endpoints.getReport) { try await $0.reports.get($1) },
    Route(Endpoints.resolveReport) { try await $0.reports.resolve($1, $2) },
    Route(Endpoints.reopenReport) { try await $0.reports.reopen($1) },
    Route(Endpoints.listWorkspaceReports) { try await $0.reports.listOfWorkspace($1) },
    Route(Endpoints.listAllReports) { try await $0.reports.listAll($1) },
    Route(Endpoints.createWorkspace) { try await $0.workspaces.create($1, $2) },
    Route(Endpoints.listWorkspaces) { try await $0.workspaces.list($1) },
    Route(Endpoints.getWorkspace) { try await $0.workspaces.get($1) },
    Route(Endpoints.updateWorkspace) { try await $0.workspaces.update($1, $2) },
    Route(Endpoints.deleteWorkspace) { try await $0.workspaces.delete($1) },
    Route(Endpoints.transferWorkspace) { try await $0.workspaces.transfer($1, $2) },
    Route(Endpoints.listChannels) { try await $0.workspaces.channels($1) },
    Route(Endpoints.listWorkspaceMembers) { try await $0.workspaces.members($1) },
    Route(Endpoints.removeWorkspaceMember) { try await $0.workspaces.remove($1) },
    Route(Endpoints.changeWorkspaceRole) { try await $0.workspaces.changeRole($1, $2) },
    Route(Endpoints.joinWorkspace) { try await $0.workspaces.join($1) },
    Route(Endpoints.leaveWorkspace) { try await $0.workspaces.leave($1) },
    Route(Endpoints.createWorkspaceInvite) { try await $0.invitations.createLink($1, $2) },
    Route(Endpoints.listWorkspaceInvites) { try await $0.invitations.listLinks($1) },
    Route(Endpoints.revokeWorkspaceInvite) { try await $0.invitations.revokeLink($1) },
    Route(Endpoints.listInvitations) { try await $0.invitations.list($1) },
    Route(Endpoints.inviteUser) { try await $0.invitations.invite($1, $2) },
    Route(Endpoints.withdrawInvitation) { try await $0.invitations.withdraw($1) },
    Route(Endpoints.listMyInvitations) { try await $0.invitations.listMine($1) },
    Route(Endpoints.declineInvitation) { try await $0.invitations.decline($1) },
    Route(Endpoints.createInvite) { try await $0.invites.create($1, $2) },
    Route(Endpoints.listInvites) { try await $0.invites.list($1) },
    Route(Endpoints.revokeInvite) { try await $0.invites.revoke($1) },
    Route(Endpoints.previewInvite) { try await $0.invites.preview($1) },
    Route(Endpoints.acceptInvite) { try await $0.invites.accept($1) },
    Route(Endpoints.listMessages) { try await $0.messages.list($1) },
    Route(Endpoints.sendMessage) { try await $0.messages.send($1, $2) },
    Route(Endpoints.getMessage) { try await $0.messages.get($1) },
    Route(Endpoints.editMessage) { try await $0.messages.edit($1, $2) },
    Route(Endpoints.deleteMessage) { try await $0.messages.delete($1) },
    Route(Endpoints.moveReadMarker) { try await $0.reading.moveMarker($1, $2) },
    Route(Endpoints.listReadMarkers) { try await $0.reading.receipts($1) },
    Route(Endpoints.markUnread) { try await $0.reading.markUnread($1, $2) },
    Route(Endpoints.getPreferences) { try await $0.preferences.get($1) },
    Route(Endpoints.updatePreferences) { try await $0.preferences.update($1, $2) },
    Route(Endpoints.setTyping) { try await $0.presence.setTyping($1, $2) },
    Route(Endpoints.setPresence) { try await $0.presence.setPresence($1, $2) },
    Route(Endpoints.setOpenRooms) { try await $0.presence.setOpenRooms($1, $2) },
    Route(Endpoints.listBlockedUsers) { try await $0.blocks.list($1) },
    Route(Endpoints.blockUser) { try await $0.blocks.block($1) },
    Route(Endpoints.unblockUser) { try await $0.blocks.unblock($1) },
    Route(Endpoints.scheduleMessage) { try await $0.scheduling.schedule($1, $2) },
    Route(Endpoints.changeScheduledMessage) { try await $0.scheduling.change($1, $2) },
    Route(Endpoints.cancelScheduledMessage) { try await $0.scheduling.cancel($1) },
    Route(Endpoints.getScheduledMessage) { try await $0.scheduling.get($1) },
    Route(Endpoints.listScheduledMessages) { try await $0.scheduling.list($1) },
    Route(Endpoints.listAllScheduledMessages) { try await $0.scheduling.listAll($1) },
    Route(Endpoints.uploadMedia) { try await $0.media.upload($1, $2) },
    Route(Endpoints.signMedia) { try await $0.media.sign($1, $2) },
    Route(Endpoints.getMedia) { try await $0.media.get($1) },
    Route(Endpoints.getThumbnail) { try await $0.media.thumbnail($1) },
    Route(Endpoints.createStreamTicket) { try await $0.sync.createTicket($1) },
    Route(Endpoints.syncSocket) { try await $0.sync.socket($1) },
    Route(Endpoints.syncStream) { try await $0.sync.stream($1) },
    Route(Endpoints.sync) { try await $0.sync.page($1) },
    Route(Endpoints.search) { try await $0.search.search($1) },
    Route(Endpoints.listThread) { try await $0.threads.list($1) },
    Route(Endpoints.moveThreadMarker) { try await $0.threads.moveMarker($1, $2) },
    Route(Endpoints.followThread) { try await $0.threads.follow($1, $2) },
    Route(Endpoints.listThreads) { try await $0.threads.followed($1) },
    Route(Endpoints.addReaction) { try await $0.reactions.add($1) },
    Route(Endpoints.removeReaction) { try await $0.reactions.remove($1) },
    Route(Endpoints.listReactions) { try await $0.reactions.list($1) },
    Route(Endpoints.messageHistory) { try await $0.messages.history($1) },
    Route(Endpoints.listPins) { try await $0.pins.list($1) },
    Route(Endpoints.pinMessage) { try await $0.pins.pin($1) },
    Route(Endpoints.unpinMessage) { try await $0.pins.unpin($1) },
    Route(Endpoints.ingest) { try await $0.ingest.run($1, $2) },
    Route(Endpoints.overview) { try $0.overview.overview($1) },
    Route(Endpoints.health) { try await $0.health.health($1) },
    Route(Endpoints.readiness) { try await $0.health.readiness($1) },
    Route(Endpoints.openAPIDocument) { $0.openAPI.document($1) },
  ]

  /// Served only if the operator enables it.
  static let bench = Route(Endpoints.bench) { try await $0.bench.run($1, $2) }
}
