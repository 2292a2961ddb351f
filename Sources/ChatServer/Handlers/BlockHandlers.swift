import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.User

/// The users whom the caller blocks.
struct BlockHandlers: Sendable {
  let chat: ChatService

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<BlockedUserList> {
    let user = try context.user
    let cursors = PageCursors(.blockedUsers, of: user, in: chat.logIdentity)
    let page = try await chat.blockedUsers(
      of: user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.blocked.count) {
      let blocked = page.blocked.map { BlockedUser($0, among: page.profiles) }
      return BlockedUserList(blockedUsers: blocked, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  /// If the user was blocked already, shows the time of that block. A late retry can come after the user was unblocked
  /// and blocked again. It then shows the time of the request that it repeats, not that of the newer block.
  func block(_ context: HansardRequestContext) async throws -> TypedResponse<BlockReceipt> {
    let other: UserID = try context.id("userId")
    let outcome = try await chat.block(other, by: context.actor, command: context.command())
    let (profile, since) = try await chat.block(of: other, by: context.user)
    let blockedAt = since.map { min($0.time, outcome.stamp.time) } ?? outcome.stamp.time
    return try JSONBody.receipt(
      outcome.result,
      BlockReceipt(
        user: User(other, profile), blockedAt: blockedAt, position: outcome.stamp.position))
  }

  func unblock(_ context: HansardRequestContext) async throws -> TypedResponse<BlockReceipt> {
    let other: UserID = try context.id("userId")
    let outcome = try await chat.unblock(other, by: context.actor, command: context.command())
    let (profile, _) = try await chat.block(of: other, by: context.user)
    return try JSONBody.receipt(
      outcome.result,
      BlockReceipt(user: User(other, profile), blockedAt: nil, position: outcome.stamp.position))
  }
}

extension BlockedUser {
  init(_ row: BlockedUserRow, among profiles: [UserID: Profile]) {
    self.init(user: User(row.user, among: profiles), blockedAt: row.blocked.time)
  }
}
