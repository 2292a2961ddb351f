import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct InviteHandlers: Sendable {
  let chat: ChatService

  func create(_ exchange: Exchange) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let body = try await exchange.body(CreateInviteRequest.self)
    let id = body.id ?? FreshID.make()
    let wish = ChatService.NewInvite(
      id: id, role: try Self.role(body.role), expiresAt: body.expiresAt, maximumUses: try Self.uses(body.maxUses))
    let outcome = try await chat.createInvite(wish, for: room, by: exchange.actor)
    return try await receipt(id, room, outcome)
  }

  private static func role(_ name: String?) throws -> Role {
    guard let name else { return .member }
    guard let role = Role(name: name) else {
      throw Refusal.invalidField("role must be one of \(Role.allCases.map(\.name).joined(separator: ", ")).")
    }
    return role
  }

  private static func uses(_ count: Int?) throws -> UInt32? {
    guard let count else { return nil }
    guard let uses = UInt32(exactly: count) else { throw ServiceError.rejected(.inviteUsesOutOfRange) }
    return uses
  }

  func list(_ exchange: Exchange) async throws -> Response {
    let rows = try await chat.invites(of: exchange.id("roomId"), for: exchange.user)
    return try JSONBody.answer(InviteList(invites: rows.map { wire($0) }))
  }

  func revoke(_ exchange: Exchange) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let id: InviteID = try exchange.id("inviteId")
    let outcome = try await chat.performRoom(
      room, .revokeInvite(id), by: exchange.actor, command: exchange.command())
    return try await receipt(id, room, outcome)
  }

  func preview(_ exchange: Exchange) async throws -> Response {
    let (invite, room) = try await chat.invite(withToken: exchange.text("token"))
    return try JSONBody.answer(
      InvitePreview(
        roomId: room.id, roomName: room.name, memberCount: Int(room.memberCount), role: invite.invite.role.name,
        expiresAt: invite.invite.expiresAt))
  }

  func accept(_ exchange: Exchange) async throws -> Response {
    let outcome = try await chat.acceptInvite(
      token: exchange.text("token"), by: exchange.actor, command: exchange.command())
    guard let room = outcome.room else { throw ServiceError.failed("an accepted invite without a room") }
    return try JSONBody.receipt(
      outcome.isNew, Membership(roomId: room, userId: try exchange.user, position: outcome.stamp.position))
  }

  private func receipt(_ id: InviteID, _ room: RoomID, _ outcome: ChatOutcome) async throws -> Response {
    var invite = wire(try await chat.invite(id, of: room))
    invite.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.isNew, invite)
  }

  private func wire(_ row: InviteRow) -> Invite {
    Invite(
      id: row.invite.id, roomId: row.room, token: chat.token(of: row.invite.id, in: row.room),
      role: row.invite.role.name,
      expiresAt: row.invite.expiresAt, maxUses: row.invite.maximumUses.map { Int($0) }, uses: Int(row.uses),
      revokedAt: row.revoked?.time, position: row.created.position)
  }
}
