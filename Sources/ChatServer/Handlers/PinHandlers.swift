import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.User

struct PinHandlers: Sendable {
  let chat: ChatService

  func pin(_ exchange: Exchange) async throws -> TypedResponse<PinReceipt> {
    try await change(exchange) { .pin($0, target: nil) }
  }

  func unpin(_ exchange: Exchange) async throws -> TypedResponse<PinReceipt> {
    try await change(exchange) { .unpin($0, target: nil) }
  }

  private func change(
    _ exchange: Exchange, _ command: (MessageID) -> RoomCommand
  ) async throws -> TypedResponse<PinReceipt> {
    let (room, id): (RoomID, MessageID) = try (exchange.id("roomId"), exchange.id("messageId"))
    let outcome = try await chat.performRoom(room, command(id), by: exchange.actor, command: exchange.command())
    return try JSONBody.receipt(
      outcome.isNew, PinReceipt(roomId: room, messageId: id, position: outcome.stamp.position))
  }

  func list(_ exchange: Exchange) async throws -> TypedResponse<PinList> {
    let room: RoomID = try exchange.id("roomId")
    let cursors = PageCursors(.pins, of: room, in: chat.logIdentity)
    let page = try await chat.pins(
      of: room, for: exchange.user, after: cursors.position(in: exchange.query("cursor")))
    return try await JSONBody.page(of: page.pins.count) {
      PinList(
        pins: page.pins.map {
          PinEntry(message: Message($0.message), pinnedAt: $0.pinnedAt, pinnedBy: $0.pinnedBy)
        }, users: [User](page.nicknames), nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}
