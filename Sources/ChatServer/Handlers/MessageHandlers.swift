import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct MessageHandlers: Sendable {
  let chat: ChatService

  /// The hot path: the answer is made of the request and the outcome alone, without a look at any read model.
  func send(_ exchange: Exchange) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let id: MessageID = try exchange.id("messageId")
    let body = try await exchange.body(SendMessageRequest.self)
    let outcome = try await chat.perform(try chat.send(.plain(body.text), as: id, to: room, by: exchange.actor))
    let position = outcome.stamp.position
    return try JSONBody.receipt(
      outcome.isNew,
      Message(
        id: id, roomId: room, senderId: try exchange.user, text: body.text,
        sentAt: outcome.message?.sentAt ?? outcome.stamp.time, position: position, revision: position, editedAt: nil,
        deletedAt: nil))
  }

  func edit(_ exchange: Exchange) async throws -> Response {
    let id: MessageID = try exchange.id("messageId")
    let body = try await exchange.body(EditMessageRequest.self)
    return try await change(.editMessage(id, .plain(body.text), target: nil), id, exchange) { message, stamp in
      message.text = body.text
      message.editedAt = stamp.time
    }
  }

  func delete(_ exchange: Exchange) async throws -> Response {
    let id: MessageID = try exchange.id("messageId")
    return try await change(.deleteMessage(id, target: nil), id, exchange) { message, stamp in
      message.deletedAt = stamp.time
    }
  }

  /// Does it, and answers with the message as it stood right after: made of the facts alone, so that a retry is
  /// answered as the first time.
  private func change(
    _ wish: RoomCommand, _ id: MessageID, _ exchange: Exchange, _ show: (inout Message, Stamp) -> Void
  ) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let outcome = try await chat.performRoom(room, wish, by: exchange.actor, command: exchange.command())
    guard let facts = outcome.message else { throw ServiceError.failed("a change of an unknown message") }
    var message = Message(
      id: id, roomId: room, senderId: facts.author, text: "", sentAt: facts.sentAt, position: facts.sent.position,
      revision: outcome.stamp.position, editedAt: nil, deletedAt: nil)
    show(&message, outcome.stamp)
    return try JSONBody.receipt(outcome.isNew, message)
  }

  func get(_ exchange: Exchange) async throws -> Response {
    let row = try await chat.message(exchange.id("messageId"), of: exchange.id("roomId"), for: exchange.user)
    return try JSONBody.answer(Message(row))
  }

  func list(_ exchange: Exchange) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let cursors = PageCursors(.messages, of: room, in: chat.logIdentity)
    let page = try await chat.messages(
      of: room, for: exchange.user, try Self.pageRequest(exchange, cursors), limit: exchange.limit())
    return try JSONBody.answer(
      MessagePage(
        messages: page.messages.map { Message($0) }, users: [User](page.nicknames),
        nextCursor: page.hasOlder ? page.oldest.map { cursors.cursor(at: $0) } : nil,
        previousCursor: page.hasNewer ? page.newest.map { cursors.cursor(at: $0) } : nil))
  }

  private static func pageRequest(_ exchange: Exchange, _ cursors: PageCursors) throws -> ChatService.PageRequest {
    let before = try exchange.query("before")
    let after = try exchange.query("after")
    let around = try exchange.query("around")
    switch (before, after, around) {
    case (nil, nil, nil): return .newest
    case (let text?, nil, nil): return .before(try anchor(text, cursors))
    case (nil, let text?, nil): return .after(try anchor(text, cursors))
    case (nil, nil, let text?): return .around(try anchor(text, cursors))
    default: throw Refusal.invalidQuery("Give one of before, after and around.")
    }
  }

  /// A cursor, a message's ID or a time.
  private static func anchor(_ text: String, _ cursors: PageCursors) throws -> ChatService.Anchor {
    if let message = MessageID(text) { return .message(message) }
    if let time = Timestamp(rfc3339: text) { return .time(time) }
    return .ordinal(try cursors.place(in: text))
  }

  func moveMarker(_ exchange: Exchange) async throws -> Response {
    let room: RoomID = try exchange.id("roomId")
    let body = try await exchange.body(MoveReadMarkerRequest.self)
    let outcome = try await chat.performRoom(
      room, .moveReadMarker(body.messageId, target: nil), by: exchange.actor, command: exchange.command())
    return try JSONBody.receipt(
      outcome.isNew, ReadMarker(roomId: room, messageId: body.messageId, position: outcome.stamp.position))
  }
}
