import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.ReadPoint
import struct ChatProtocol.UnreadMark
import struct ChatProtocol.User

/// Read markers, read receipts, and whether a user shares them with others.
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
      outcome.isNew, ReadMarker(roomId: room, messageId: body.messageId, position: outcome.stamp.position))
  }

  func markUnread(
    _ context: HansardRequestContext, _ body: TypedBody<MarkUnreadRequest>
  ) async throws -> TypedResponse<UnreadMark> {
    let room: RoomID = try context.id("roomId")
    let body = try await body.decoded()
    let outcome = try await chat.performRoom(
      room, .reading(.markUnread(from: body.messageId)), by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.isNew,
      UnreadMark(roomId: room, messageId: body.messageId, position: outcome.stamp.position))
  }

  func receipts(_ context: HansardRequestContext) async throws -> TypedResponse<ReadReceiptList> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.receipts, of: room, in: chat.logIdentity)
    let page = try await chat.receipts(
      of: room, for: context.user, after: cursors.position(in: context.query("cursor")), limit: context.limit())
    return try await JSONBody.page(of: page.receipts.count) {
      let receipts = page.receipts.map { ReadReceipt($0, among: page.nicknames) }
      return ReadReceiptList(readMarkers: receipts, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  func preferences(_ context: HansardRequestContext) async throws -> TypedResponse<Preferences> {
    let preferences = try await chat.preferences(of: context.user)
    return try JSONBody.response(Preferences(preferences))
  }

  func updatePreferences(
    _ context: HansardRequestContext, _ body: TypedBody<UpdatePreferencesRequest>
  ) async throws -> TypedResponse<PreferencesReceipt> {
    let body = try await body.decoded()
    let edit = PreferencesEdit(
      sharesReadMarkers: body.sharesReadMarkers, acceptsDirectMessages: body.acceptsDirectMessages,
      sharesPresence: body.sharesPresence)
    guard !edit.isEmpty else {
      throw Refusal.invalidField("Send at least one of sharesReadMarkers, acceptsDirectMessages and sharesPresence.")
    }
    let outcome = try await chat.setPreferences(edit, by: context.actor, command: context.command())
    var preferences = try await chat.preferences(of: context.user)
    preferences.apply(edit)
    return try JSONBody.receipt(
      outcome.isNew,
      PreferencesReceipt(
        sharesReadMarkers: preferences.sharesReadMarkers, acceptsDirectMessages: preferences.acceptsDirectMessages,
        sharesPresence: preferences.sharesPresence, position: outcome.stamp.position))
  }
}

extension ReadPoint {
  init(_ read: ChatProjections.ReadPoint) {
    self.init(messageId: read.message, readAt: read.time)
  }
}

extension ReadReceipt {
  init(_ row: ReceiptRow, among nicknames: [UserID: String]) {
    self.init(user: User(row.user, among: nicknames), messageId: row.read.message, readAt: row.read.time)
  }
}

extension Preferences {
  init(_ preferences: UserPreferences) {
    self.init(
      sharesReadMarkers: preferences.sharesReadMarkers, acceptsDirectMessages: preferences.acceptsDirectMessages,
      sharesPresence: preferences.sharesPresence)
  }
}
