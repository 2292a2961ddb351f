import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.ReadPoint
import struct ChatProtocol.UnreadMark
import struct ChatProtocol.User

/// Read markers and read receipts.
struct ReadingHandlers: Sendable {
  let chat: ChatService

  func moveMarker(
    _ context: HansardRequestContext, _ body: TypedBody<MoveReadMarkerRequest>
  ) async throws -> TypedResponse<ReadMarker> {
    let room: RoomID = try context.id("roomId")
    let body = try await body.decoded()
    let outcome = try await chat.performRoom(
      room, .reading(.moveMarker(to: body.messageId)), by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.result, ReadMarker(roomId: room, messageId: body.messageId, position: outcome.stamp.position))
  }

  func markUnread(
    _ context: HansardRequestContext, _ body: TypedBody<MarkUnreadRequest>
  ) async throws -> TypedResponse<UnreadMark> {
    let room: RoomID = try context.id("roomId")
    let body = try await body.decoded()
    let outcome = try await chat.performRoom(
      room, .reading(.markUnread(from: body.messageId)), by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.result,
      UnreadMark(roomId: room, messageId: body.messageId, position: outcome.stamp.position))
  }

  func receipts(_ context: HansardRequestContext) async throws -> TypedResponse<ReadReceiptList> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.receipts, of: room, in: chat.logIdentity)
    let page = try await chat.receipts(
      of: room, for: context.user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.receipts.count) {
      let receipts = page.receipts.map { ReadReceipt($0, among: page.profiles) }
      return ReadReceiptList(readMarkers: receipts, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}

extension ReadPoint {
  init(_ read: ChatProjections.ReadPoint) {
    self.init(messageId: read.message, readAt: read.time)
  }
}

extension ReadReceipt {
  init(_ row: ReceiptRow, among profiles: [UserID: Profile]) {
    self.init(user: User(row.user, among: profiles), messageId: row.read.message, readAt: row.read.time)
  }
}
