import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.MessageVersion

struct MessageHandlers: Sendable {
  let chat: ChatService

  /// The hot path: the answer is made of the request and the outcome alone, without a look at any read model.
  func send(_ exchange: Exchange, _ body: TypedBody<SendMessageRequest>) async throws -> TypedResponse<Message> {
    let room: RoomID = try exchange.id("roomId")
    let id: MessageID = try exchange.id("messageId")
    let body = try await body.decoded()
    let newMessage = try body.message()
    var request = try chat.send(newMessage, as: id, to: room, by: exchange.actor)
    if request.lacksMedia { request = try await chat.withMedia(request) }
    let outcome = try await chat.perform(request)
    let position = outcome.stamp.position
    var message = Message(
      id: id, roomId: room, senderId: try exchange.user, text: newMessage.text,
      sentAt: outcome.message?.sentAt ?? outcome.stamp.time, position: position, revision: position, editedAt: nil,
      deletedAt: nil)
    message.threadId = newMessage.thread
    if let details = try await chat.receiptDetails(of: request) { message.show(details) }
    return try JSONBody.receipt(outcome.isNew, message)
  }

  func edit(_ exchange: Exchange, _ body: TypedBody<EditMessageRequest>) async throws -> TypedResponse<Message> {
    let id: MessageID = try exchange.id("messageId")
    let body = try await body.decoded()
    let edit = MessageEdit(text: body.text, mentions: Mentions(body.mentions))
    return try await change(.editMessage(id, edit, target: nil), id, exchange) { message, stamp in
      message.text = edit.text
      message.mentions = MessageMentions(edit.mentions)
      message.editedAt = stamp.time
      message.deletedAt = nil
    }
  }

  func delete(_ exchange: Exchange) async throws -> TypedResponse<Message> {
    let id: MessageID = try exchange.id("messageId")
    return try await change(.deleteMessage(id, target: nil), id, exchange) { message, stamp in
      message.deletedAt = stamp.time
    }
  }

  /// Does it, and answers with the message as it is, in which what was asked for is shown as it was asked for.
  private func change(
    _ command: RoomCommand, _ id: MessageID, _ exchange: Exchange, _ show: (inout Message, Stamp) -> Void
  ) async throws -> TypedResponse<Message> {
    let room: RoomID = try exchange.id("roomId")
    let outcome = try await chat.performRoom(
      room, command, by: exchange.actor, command: exchange.command(), if: exchange.precondition())
    var message = Message(try await chat.message(id, of: room, for: exchange.reader))
    message.revision = outcome.stamp.position
    show(&message, outcome.stamp)
    return try JSONBody.receipt(outcome.isNew, message)
  }

  func get(_ exchange: Exchange) async throws -> TypedResponse<Message> {
    let shown = try await chat.message(exchange.id("messageId"), of: exchange.id("roomId"), for: exchange.user)
    return try JSONBody.answer(Message(shown))
  }

  func list(_ exchange: Exchange) async throws -> TypedResponse<MessagePage> {
    let room: RoomID = try exchange.id("roomId")
    let cursors = PageCursors(.messages, of: room, in: chat.logIdentity)
    let page = try await chat.messages(
      of: room, for: exchange.user, try MessagePaging.request(exchange, cursors), limit: exchange.limit())
    return try await JSONBody.page(of: page.messages.count) { MessagePage(page, cursors) }
  }

  func history(_ exchange: Exchange) async throws -> TypedResponse<MessageHistory> {
    let (room, id): (RoomID, MessageID) = try (exchange.id("roomId"), exchange.id("messageId"))
    let cursors = PageCursors(.history, of: id, in: room, chat.logIdentity)
    let page = try await chat.history(
      of: id, in: room, for: exchange.user, after: cursors.position(in: exchange.query("cursor")),
      limit: exchange.limit())
    return try await JSONBody.page(of: page.versions.count) {
      let versions = page.versions.map { version in
        MessageVersion(
          text: version.text,
          mentions: MessageMentions(Mentions(users: version.mentionedUsers, everyone: version.mentionsEveryone)),
          writtenAt: version.writtenAt, position: version.position)
      }
      return MessageHistory(versions: versions, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}
