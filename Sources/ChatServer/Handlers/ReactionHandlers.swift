import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.User

struct ReactionHandlers: Sendable {
  let chat: ChatService

  func add(_ exchange: Exchange) async throws -> TypedResponse<ReactionReceipt> {
    try await change(exchange) { .react($0, $1, target: nil) }
  }

  func remove(_ exchange: Exchange) async throws -> TypedResponse<ReactionReceipt> {
    try await change(exchange) { .unreact($0, $1, target: nil) }
  }

  private func change(
    _ exchange: Exchange, _ command: (MessageID, String) -> RoomCommand
  ) async throws -> TypedResponse<ReactionReceipt> {
    let (room, id): (RoomID, MessageID) = try (exchange.id("roomId"), exchange.id("messageId"))
    let emoji = try exchange.text("emoji")
    let outcome = try await chat.performRoom(
      room, command(id, emoji), by: exchange.actor, command: exchange.command())
    return try JSONBody.receipt(
      outcome.isNew, ReactionReceipt(roomId: room, messageId: id, emoji: emoji, position: outcome.stamp.position))
  }

  func list(_ exchange: Exchange) async throws -> TypedResponse<ReactionList> {
    let (room, id): (RoomID, MessageID) = try (exchange.id("roomId"), exchange.id("messageId"))
    let cursors = PageCursors(.reactions, of: id, in: room, chat.logIdentity)
    let page = try await chat.reactions(
      to: id, of: room, for: exchange.user, after: cursors.position(in: exchange.query("cursor")),
      limit: exchange.limit())
    return try await JSONBody.page(of: page.reactions.count) {
      let entries = page.reactions.map { row in
        ReactionEntry(
          emoji: row.emoji, user: User(row.user, among: page.nicknames), reactedAt: row.reactedAt)
      }
      return ReactionList(reactions: entries, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}
