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

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<MemberList> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.members, of: room, in: chat.logIdentity)
    let page = try await chat.members(
      of: room, for: context.user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.members.count) {
      let members = page.members.map { Member($0, among: page.profiles) }
      return MemberList(members: members, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  func add(_ context: HansardRequestContext) async throws -> TypedResponse<Membership> {
    let user: UserID = try context.id("userId")
    return try await change(.members(.add(user)), of: user, context)
  }

  func remove(_ context: HansardRequestContext) async throws -> TypedResponse<Membership> {
    let user: UserID = try context.id("userId")
    return try await change(.members(.remove(user)), of: user, context)
  }

  func join(_ context: HansardRequestContext) async throws -> TypedResponse<Membership> {
    try await change(.members(.join), of: context.user, context)
  }

  func leave(_ context: HansardRequestContext) async throws -> TypedResponse<Membership> {
    try await change(.members(.leave), of: context.user, context)
  }

  func changeRole(
    _ context: HansardRequestContext, _ body: TypedBody<RoomRoleRequest>
  ) async throws -> TypedResponse<Membership> {
    let user: UserID = try context.id("userId")
    let role = try Role(await body.decoded().role, field: "role")
    return try await change(.members(.changeRole(user, role)), of: user, context)
  }

  func transfer(
    _ context: HansardRequestContext, _ body: TypedBody<TransferRequest>
  ) async throws -> TypedResponse<Membership> {
    let user = try await body.decoded().userId
    return try await change(.members(.transfer(to: user)), of: user, context)
  }

  func silence(
    _ context: HansardRequestContext, _ body: TypedBody<SilenceRequest>
  ) async throws -> TypedResponse<Membership> {
    let user: UserID = try context.id("userId")
    let body = try await body.decoded()
    return try await change(.members(.silence(user, until: body.until)), of: user, context)
  }

  func ban(_ context: HansardRequestContext) async throws -> TypedResponse<Membership> {
    let user: UserID = try context.id("userId")
    return try await change(.members(.ban(user)), of: user, context)
  }

  func unban(_ context: HansardRequestContext) async throws -> TypedResponse<Membership> {
    let user: UserID = try context.id("userId")
    return try await change(.members(.unban(user)), of: user, context)
  }

  private func change(
    _ command: RoomCommand, of user: UserID, _ context: HansardRequestContext
  ) async throws -> TypedResponse<Membership> {
    let room: RoomID = try context.id("roomId")
    let outcome = try await chat.performRoom(room, command, by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.result, Membership(roomId: room, userId: user, position: outcome.stamp.position))
  }

  // MARK: - For administrators

  func bans(_ context: HansardRequestContext) async throws -> TypedResponse<BanList> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.bans, of: room, in: chat.logIdentity)
    let page = try await chat.bans(
      of: room, for: context.user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.bans.count) {
      let bans = page.bans.map { row in
        Ban(
          user: User(row.user, among: page.profiles), bannedAt: row.banned.time,
          bannedBy: row.banner.map { User($0, among: page.profiles) })
      }
      return BanList(bans: bans, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  func joinHistory(_ context: HansardRequestContext) async throws -> TypedResponse<JoinHistory> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.joinHistory, of: room, in: chat.logIdentity)
    let page = try await chat.joinHistory(
      of: room, for: context.user, before: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.entries.count) {
      let changes = page.entries.map { row in
        MembershipChange(
          change: row.change.name, user: User(row.user, among: page.profiles), role: row.role?.name,
          by: row.actor.map { User($0, among: page.profiles) }, at: row.time, position: row.position)
      }
      return JoinHistory(changes: changes, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}

extension Member {
  init(_ row: MemberRow, among profiles: [UserID: Profile]) {
    self.init(
      user: User(row.user, among: profiles), role: row.role.name, joinedAt: row.joined.time,
      silencedUntil: row.silencedUntil)
  }
}
