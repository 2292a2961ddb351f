import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.MessageVersion

struct MessageHandlers: Sendable {
  let chat: ChatService

  /// The hot path: without attachments, the response is made from the request and the outcome, without reading any read
  /// model.
  func send(
    _ context: HansardRequestContext, _ body: TypedBody<SendMessageRequest>
  ) async throws -> TypedResponse<Message> {
    let room: RoomID = try context.id("roomId")
    let id: MessageID = try context.id("messageId")
    let body = try await body.decoded()
    let newMessage = try body.message()
    var request = try chat.send(newMessage, as: id, to: room, by: context.actor)
    if request.lacksMedia { request = try await chat.withMedia(request) }
    let outcome = try await chat.perform(request)
    var message = Message(
      newMessage, as: id, in: room, by: try context.user, outcome, try await chat.receiptDetails(of: request))
    if let replyTo = newMessage.replyTo {
      // The message is sent, so its receipt does not fail: it can lack the quote.
      message.quote = try? await chat.quote(of: replyTo, in: room, for: context.user).map { MessageQuote($0) }
    }
    return try JSONBody.receipt(outcome.result, message)
  }

  func edit(
    _ context: HansardRequestContext, _ body: TypedBody<EditMessageRequest>
  ) async throws -> TypedResponse<Message> {
    let id: MessageID = try context.id("messageId")
    let body = try await body.decoded()
    let edit = try MessageEdit(text: body.text, mentions: body.mentions, data: body.data)
    return try await change(.messages(.edit(id, edit)), id, context) { message, stamp in
      if let text = edit.text {
        message.text = text
        message.mentions = MessageMentions(edit.mentions)
      }
      if let data = body.data { message.data = data }
      message.editedAt = stamp.time
      message.deletedAt = nil
    }
  }

  func delete(_ context: HansardRequestContext) async throws -> TypedResponse<Message> {
    let id: MessageID = try context.id("messageId")
    return try await change(.messages(.delete(id)), id, context) { message, stamp in
      message.deletedAt = stamp.time
    }
  }

  /// Performs the command. Responds with the current message, in which the requested change is always shown as
  /// requested.
  private func change(
    _ command: RoomCommand, _ id: MessageID, _ context: HansardRequestContext, _ show: (inout Message, Stamp) -> Void
  ) async throws -> TypedResponse<Message> {
    let room: RoomID = try context.id("roomId")
    let outcome = try await chat.performRoom(
      room, command, by: context.actor, command: context.command(), if: context.precondition())
    var message = Message(try await chat.message(id, of: room, for: context.reader))
    message.revision = outcome.stamp.position
    show(&message, outcome.stamp)
    return try JSONBody.receipt(outcome.result, message)
  }

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<Message> {
    let shown = try await chat.message(context.id("messageId"), of: context.id("roomId"), for: context.user)
    return try JSONBody.response(Message(shown))
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<MessagePage> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.messages, of: room, in: chat.logIdentity)
    let page = try await chat.messages(
      of: room, withType: context.messageType(), for: context.user, try MessagePaging.request(context, cursors),
      limit: context.limit())
    return try await JSONBody.page(of: page.messages.count) { MessagePage(page, cursors) }
  }

  func history(_ context: HansardRequestContext) async throws -> TypedResponse<MessageHistory> {
    let (room, id): (RoomID, MessageID) = try (context.id("roomId"), context.id("messageId"))
    let cursors = PageCursors(.history, of: id, in: room, chat.logIdentity)
    let page = try await chat.history(
      of: id, in: room, for: context.user, after: cursors.position(in: context.cursor()),
      limit: context.limit())
    return try await JSONBody.page(of: page.versions.count) {
      let versions = page.versions.map { version in
        MessageVersion(
          text: version.text,
          mentions: MessageMentions(version.mentions),
          data: version.customBody.map { CanonicalJSON(unchecked: $0) }, writtenAt: version.writtenAt,
          position: version.position)
      }
      return MessageHistory(versions: versions, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}
