import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.User

struct ReactionHandlers: Sendable {
  let chat: ChatService

  func add(_ context: HansardRequestContext) async throws -> TypedResponse<ReactionReceipt> {
    try await change(context) { .annotations(.react($0, $1)) }
  }

  func remove(_ context: HansardRequestContext) async throws -> TypedResponse<ReactionReceipt> {
    try await change(context) { .annotations(.unreact($0, $1)) }
  }

  private func change(
    _ context: HansardRequestContext, _ command: (MessageID, String) -> RoomCommand
  ) async throws -> TypedResponse<ReactionReceipt> {
    let (room, id): (RoomID, MessageID) = try (context.id("roomId"), context.id("messageId"))
    let emoji = try context.text("emoji")
    let outcome = try await chat.performRoom(
      room, command(id, emoji), by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.result, ReactionReceipt(roomId: room, messageId: id, emoji: emoji, position: outcome.stamp.position))
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<ReactionList> {
    let (room, id): (RoomID, MessageID) = try (context.id("roomId"), context.id("messageId"))
    let cursors = PageCursors(.reactions, of: id, in: room, chat.logIdentity)
    let page = try await chat.reactions(
      to: id, of: room, for: context.user, after: cursors.position(in: context.cursor()),
      limit: context.limit())
    return try await JSONBody.page(of: page.reactions.count) {
      let entries = page.reactions.map { row in
        ReactionEntry(
          emoji: row.emoji, user: User(row.user, among: page.profiles), reactedAt: row.reactedAt)
      }
      return ReactionList(reactions: entries, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}
