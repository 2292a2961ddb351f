import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird

/// One line of the route table.
struct Route: Sendable {
  let endpoint: Endpoint
  let handle: @Sendable (Handlers, Exchange) async throws -> Response

  init(_ endpoint: Endpoint, _ handle: @escaping @Sendable (Handlers, Exchange) async throws -> Response) {
    self.endpoint = endpoint
    self.handle = handle
  }
}

/// What serves requests.
struct Handlers: Sendable {
  let accounts: AccountHandlers
  let sessions: SessionHandlers
  let devices: DeviceHandlers
  let rooms: RoomHandlers
  let members: MemberHandlers
  let invites: InviteHandlers
  let messages: MessageHandlers
  let search: SearchHandlers
  let ingest: IngestHandler
  let health: HealthHandlers
  let bench = BenchHandler()

  init(chat: ChatService, issuer: TokenIssuer, logins: LoginSettings) {
    accounts = AccountHandlers(chat: chat)
    sessions = SessionHandlers(chat: chat, issuer: issuer, throttle: LoginThrottle(logins))
    devices = DeviceHandlers(chat: chat)
    rooms = RoomHandlers(chat: chat)
    members = MemberHandlers(chat: chat)
    invites = InviteHandlers(chat: chat)
    messages = MessageHandlers(chat: chat)
    search = SearchHandlers(chat: chat)
    ingest = IngestHandler(chat: chat)
    health = HealthHandlers(chat: chat)
  }
}

/// Every endpoint with what serves it. A new one is a line in `Endpoints`, a handler, and a line here.
enum RouteTable {
  static let routes = [
    Route(Endpoints.createAccount) { try await $0.accounts.create($1) },
    Route(Endpoints.getMe) { try await $0.accounts.me($1) },
    Route(Endpoints.updateMe) { try await $0.accounts.updateMe($1) },
    Route(Endpoints.getUser) { try await $0.accounts.profile($1) },
    Route(Endpoints.findUsers) { try await $0.accounts.find($1) },
    Route(Endpoints.createSession) { try await $0.sessions.create($1) },
    Route(Endpoints.refreshSession) { try await $0.sessions.refresh($1) },
    Route(Endpoints.listSessions) { try await $0.sessions.list($1) },
    Route(Endpoints.endSession) { try await $0.sessions.end($1) },
    Route(Endpoints.listDevices) { try await $0.devices.list($1) },
    Route(Endpoints.putDevice) { try await $0.devices.put($1) },
    Route(Endpoints.getDevice) { try await $0.devices.get($1) },
    Route(Endpoints.deleteDevice) { try await $0.devices.delete($1) },
    Route(Endpoints.createRoom) { try await $0.rooms.create($1) },
    Route(Endpoints.listRooms) { try await $0.rooms.list($1) },
    Route(Endpoints.getRoom) { try await $0.rooms.get($1) },
    Route(Endpoints.updateRoom) { try await $0.rooms.update($1) },
    Route(Endpoints.archiveRoom) { try await $0.rooms.archive($1) },
    Route(Endpoints.muteRoom) { try await $0.rooms.mute($1) },
    Route(Endpoints.getBadge) { try await $0.rooms.badge($1) },
    Route(Endpoints.listMembers) { try await $0.members.list($1) },
    Route(Endpoints.addMember) { try await $0.members.add($1) },
    Route(Endpoints.removeMember) { try await $0.members.remove($1) },
    Route(Endpoints.leaveRoom) { try await $0.members.leave($1) },
    Route(Endpoints.createInvite) { try await $0.invites.create($1) },
    Route(Endpoints.listInvites) { try await $0.invites.list($1) },
    Route(Endpoints.revokeInvite) { try await $0.invites.revoke($1) },
    Route(Endpoints.previewInvite) { try await $0.invites.preview($1) },
    Route(Endpoints.acceptInvite) { try await $0.invites.accept($1) },
    Route(Endpoints.listMessages) { try await $0.messages.list($1) },
    Route(Endpoints.sendMessage) { try await $0.messages.send($1) },
    Route(Endpoints.getMessage) { try await $0.messages.get($1) },
    Route(Endpoints.editMessage) { try await $0.messages.edit($1) },
    Route(Endpoints.deleteMessage) { try await $0.messages.delete($1) },
    Route(Endpoints.moveReadMarker) { try await $0.messages.moveMarker($1) },
    Route(Endpoints.search) { try await $0.search.search($1) },
    Route(Endpoints.ingest) { try await $0.ingest.run($1) },
    Route(Endpoints.health) { try await $0.health.health($1) },
    Route(Endpoints.readiness) { try await $0.health.readiness($1) },
  ]

  /// Served only when the operator asks for it.
  static let bench = Route(Endpoints.bench) { try await $0.bench.run($1) }
}
