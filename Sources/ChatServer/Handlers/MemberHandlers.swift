import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Member
import struct ChatProtocol.MembershipChange
import struct ChatProtocol.User

struct MemberHandlers: Sendable {
  let chat: ChatService

  func list(_ exchange: Exchange) async throws -> TypedResponse<MemberList> {
    let room: RoomID = try exchange.id("roomId")
    let cursors = PageCursors(.members, of: room, in: chat.logIdentity)
    let page = try await chat.members(
      of: room, for: exchange.user, after: cursors.position(in: exchange.query("cursor")), limit: exchange.limit())
    return try await JSONBody.page(of: page.members.count) {
      let members = page.members.map { row in
        Member(
          user: User(row.user, among: page.nicknames), role: row.role.name, joinedAt: row.joined.time,
          silencedUntil: row.silencedUntil)
      }
      return MemberList(members: members, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  func add(_ exchange: Exchange) async throws -> TypedResponse<Membership> {
    let user: UserID = try exchange.id("userId")
    return try await change(.addMember(user), of: user, exchange)
  }

  func remove(_ exchange: Exchange) async throws -> TypedResponse<Membership> {
    let user: UserID = try exchange.id("userId")
    return try await change(.removeMember(user), of: user, exchange)
  }

  func join(_ exchange: Exchange) async throws -> TypedResponse<Membership> {
    try await change(.join, of: exchange.user, exchange)
  }

  func leave(_ exchange: Exchange) async throws -> TypedResponse<Membership> {
    try await change(.leave, of: exchange.user, exchange)
  }

  func changeRole(_ exchange: Exchange, _ body: TypedBody<RoomRoleRequest>) async throws -> TypedResponse<Membership> {
    let user: UserID = try exchange.id("userId")
    let role = try WireRoles.room(await body.decoded().role)
    return try await change(.changeRole(user, role), of: user, exchange)
  }

  func transfer(_ exchange: Exchange, _ body: TypedBody<TransferRequest>) async throws -> TypedResponse<Membership> {
    let user = try await body.decoded().userId
    return try await change(.transfer(to: user), of: user, exchange)
  }

  func silence(_ exchange: Exchange, _ body: TypedBody<SilenceRequest>) async throws -> TypedResponse<Membership> {
    let user: UserID = try exchange.id("userId")
    let body = try await body.decoded()
    return try await change(.silence(user, until: body.until), of: user, exchange)
  }

  func ban(_ exchange: Exchange) async throws -> TypedResponse<Membership> {
    let user: UserID = try exchange.id("userId")
    return try await change(.ban(user), of: user, exchange)
  }

  func unban(_ exchange: Exchange) async throws -> TypedResponse<Membership> {
    let user: UserID = try exchange.id("userId")
    return try await change(.unban(user), of: user, exchange)
  }

  private func change(
    _ command: RoomCommand, of user: UserID, _ exchange: Exchange
  ) async throws -> TypedResponse<Membership> {
    let room: RoomID = try exchange.id("roomId")
    let outcome = try await chat.performRoom(room, command, by: exchange.actor, command: exchange.command())
    return try JSONBody.receipt(
      outcome.isNew, Membership(roomId: room, userId: user, position: outcome.stamp.position))
  }

  // MARK: - For administrators

  func bans(_ exchange: Exchange) async throws -> TypedResponse<BanList> {
    let room: RoomID = try exchange.id("roomId")
    let cursors = PageCursors(.bans, of: room, in: chat.logIdentity)
    let page = try await chat.bans(
      of: room, for: exchange.user, after: cursors.position(in: exchange.query("cursor")), limit: exchange.limit())
    return try await JSONBody.page(of: page.bans.count) {
      let bans = page.bans.map { row in
        Ban(
          user: User(row.user, among: page.nicknames), bannedAt: row.banned.time,
          bannedBy: row.banner.map { User($0, among: page.nicknames) })
      }
      return BanList(bans: bans, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  func joinHistory(_ exchange: Exchange) async throws -> TypedResponse<JoinHistory> {
    let room: RoomID = try exchange.id("roomId")
    let cursors = PageCursors(.joinHistory, of: room, in: chat.logIdentity)
    let page = try await chat.joinHistory(
      of: room, for: exchange.user, before: cursors.position(in: exchange.query("cursor")), limit: exchange.limit())
    return try await JSONBody.page(of: page.entries.count) {
      let changes = page.entries.map { row in
        MembershipChange(
          change: row.change.name, user: User(row.user, among: page.nicknames), role: row.role?.name,
          by: row.actor.map { User($0, among: page.nicknames) }, at: row.time, position: row.position)
      }
      return JoinHistory(changes: changes, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}
