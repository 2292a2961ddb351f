import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct MemberHandlers: Sendable {
  let chat: ChatService

  func list(_ exchange: Exchange) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let cursors = PageCursors(.members, of: room, in: chat.logIdentity)
    let page = try await chat.members(
      of: room, for: exchange.user, after: cursors.position(in: exchange.query("cursor")), limit: exchange.limit())
    let members = page.members.map { row in
      Member(
        user: User(id: row.user, nickname: page.nicknames[row.user] ?? ""), role: row.role.name,
        joinedAt: row.joined.time)
    }
    return try JSONBody.answer(
      MemberList(members: members, nextCursor: page.next.map { cursors.cursor(at: $0.value) }))
  }

  func add(_ exchange: Exchange) async throws -> Response {
    let user: UserID = try exchange.id("userId")
    return try await change(.addMember(user), of: user, exchange)
  }

  func remove(_ exchange: Exchange) async throws -> Response {
    let user: UserID = try exchange.id("userId")
    return try await change(.removeMember(user), of: user, exchange)
  }

  func leave(_ exchange: Exchange) async throws -> Response {
    try await change(.leave, of: exchange.user, exchange)
  }

  private func change(_ wish: RoomCommand, of user: UserID, _ exchange: Exchange) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let outcome = try await chat.performRoom(room, wish, by: exchange.actor, command: exchange.command())
    return try JSONBody.receipt(
      outcome.isNew, Membership(roomId: room, userId: user, position: outcome.stamp.position))
  }
}
