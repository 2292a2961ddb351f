import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird

/// One line of the route table.
struct Route: Sendable {
  let endpoint: Endpoint
  let handle: @Sendable (Exchange) async throws -> Response

  init(_ endpoint: Endpoint, _ handle: @escaping @Sendable (Exchange) async throws -> Response) {
    self.endpoint = endpoint
    self.handle = handle
  }
}

/// Every endpoint with what serves it. A new one is a line in `Endpoints`, a handler, and a line here.
struct RouteTable: Sendable {
  let routes: [Route]

  init(chat: ChatService, issuer: TokenIssuer, health: HealthHandlers) {
    let accounts = AccountHandlers(chat: chat)
    let sessions = SessionHandlers(chat: chat, issuer: issuer)
    let devices = DeviceHandlers(chat: chat)
    let rooms = RoomHandlers(chat: chat)
    let members = MemberHandlers(chat: chat)
    let invites = InviteHandlers(chat: chat)
    let messages = MessageHandlers(chat: chat)
    let ingest = IngestHandler(chat: chat)
    routes = [
      Route(Endpoints.createAccount, accounts.create),
      Route(Endpoints.getMe, accounts.me),
      Route(Endpoints.updateMe, accounts.updateMe),
      Route(Endpoints.getUser, accounts.profile),
      Route(Endpoints.findUsers, accounts.find),
      Route(Endpoints.createSession, sessions.create),
      Route(Endpoints.refreshSession, sessions.refresh),
      Route(Endpoints.listSessions, sessions.list),
      Route(Endpoints.endSession, sessions.end),
      Route(Endpoints.listDevices, devices.list),
      Route(Endpoints.putDevice, devices.put),
      Route(Endpoints.getDevice, devices.get),
      Route(Endpoints.deleteDevice, devices.delete),
      Route(Endpoints.createRoom, rooms.create),
      Route(Endpoints.listRooms, rooms.list),
      Route(Endpoints.getRoom, rooms.get),
      Route(Endpoints.updateRoom, rooms.update),
      Route(Endpoints.archiveRoom, rooms.archive),
      Route(Endpoints.muteRoom, rooms.mute),
      Route(Endpoints.getBadge, rooms.badge),
      Route(Endpoints.listMembers, members.list),
      Route(Endpoints.addMember, members.add),
      Route(Endpoints.removeMember, members.remove),
      Route(Endpoints.leaveRoom, members.leave),
      Route(Endpoints.createInvite, invites.create),
      Route(Endpoints.listInvites, invites.list),
      Route(Endpoints.revokeInvite, invites.revoke),
      Route(Endpoints.previewInvite, invites.preview),
      Route(Endpoints.acceptInvite, invites.accept),
      Route(Endpoints.listMessages, messages.list),
      Route(Endpoints.sendMessage, messages.send),
      Route(Endpoints.getMessage, messages.get),
      Route(Endpoints.editMessage, messages.edit),
      Route(Endpoints.deleteMessage, messages.delete),
      Route(Endpoints.moveReadMarker, messages.moveMarker),
      Route(Endpoints.ingest, ingest.run),
      Route(Endpoints.health, health.health),
      Route(Endpoints.readiness, health.readiness),
    ]
  }
}
