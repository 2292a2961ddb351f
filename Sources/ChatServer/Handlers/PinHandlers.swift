import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.User

struct PinHandlers: Sendable {
  let chat: ChatService

  func pin(_ context: HansardRequestContext) async throws -> TypedResponse<PinReceipt> {
    try await change(context) { .annotations(.pin($0)) }
  }

  func unpin(_ context: HansardRequestContext) async throws -> TypedResponse<PinReceipt> {
    try await change(context) { .annotations(.unpin($0)) }
  }

  private func change(
    _ context: HansardRequestContext, _ command: (MessageID) -> RoomCommand
  ) async throws -> TypedResponse<PinReceipt> {
    let (room, id): (RoomID, MessageID) = try (context.id("roomId"), context.id("messageId"))
    let outcome = try await chat.performRoom(room, command(id), by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.result, PinReceipt(roomId: room, messageId: id, position: outcome.stamp.position))
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<PinList> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.pins, of: room, in: chat.logIdentity)
    let page = try await chat.pins(
      of: room, for: context.user, after: cursors.position(in: context.cursor()))
    return try await JSONBody.page(of: page.pins.count) {
      PinList(
        pins: page.pins.map {
          PinEntry(message: Message($0.message), pinnedAt: $0.pinnedAt, pinnedBy: $0.pinnedBy)
        }, users: [User](page.profiles), nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}
