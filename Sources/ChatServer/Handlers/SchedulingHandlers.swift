import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.ScheduledMessage

/// Messages that the server sends at a later time.
struct SchedulingHandlers: Sendable {
  let chat: ChatService

  /// The response is derived from the request, the outcome and the attached files, so a retry gets the same response.
  func schedule(
    _ context: HansardRequestContext, _ body: TypedBody<ScheduleMessageRequest>
  ) async throws -> TypedResponse<ScheduledMessage> {
    let room: RoomID = try context.id("roomId")
    let id: MessageID = try context.id("messageId")
    let body = try await body.decoded()
    let newMessage = try body.message.message()
    let request = try await chat.withMedia(
      try chat.schedule(newMessage, as: id, to: room, at: body.sendAt, by: context.actor))
    let outcome = try await chat.perform(request)
    let position = outcome.stamp.position
    var message = ScheduledMessage(
      id: id, roomId: room, senderId: try context.user, text: newMessage.text, sendAt: body.sendAt, status: "pending",
      failure: nil, failedAt: nil, position: position, revision: position)
    message.threadId = newMessage.thread
    if let details = try await chat.receiptDetails(of: request) { message.show(details) }
    return try JSONBody.receipt(outcome.result, message)
  }

  func change(
    _ context: HansardRequestContext, _ body: TypedBody<ChangeScheduledMessageRequest>
  ) async throws -> TypedResponse<SchedulingReceipt> {
    let id: MessageID = try context.id("messageId")
    let body = try await body.decoded()
    let edit = ScheduledMessageEdit(
      text: body.text, mentions: body.mentions.map { Mentions($0) }, sendAt: body.sendAt,
      customBody: body.data?.canonicalText)
    guard edit != ScheduledMessageEdit() else {
      throw Refusal.invalidField("Send at least one of text, mentions, sendAt and data.")
    }
    let (room, outcome) = try await perform(.scheduling(.change(id, edit)), context)
    return try JSONBody.receipt(
      outcome.result,
      SchedulingReceipt(
        id: id, roomId: room, text: edit.text,
        mentions: edit.mentions.map { MessageMentions(users: $0.users, everyone: $0.everyone) }, sendAt: edit.sendAt,
        data: body.data, position: outcome.stamp.position))
  }

  func cancel(_ context: HansardRequestContext) async throws -> TypedResponse<SchedulingReceipt> {
    let id: MessageID = try context.id("messageId")
    let (room, outcome) = try await perform(.scheduling(.cancel(id)), context)
    return try JSONBody.receipt(
      outcome.result, SchedulingReceipt(id: id, roomId: room, position: outcome.stamp.position))
  }

  private func perform(_ command: RoomCommand, _ context: HansardRequestContext) async throws -> (RoomID, ChatOutcome) {
    let room: RoomID = try context.id("roomId")
    let outcome = try await chat.performRoom(
      room, command, by: context.actor, command: context.command(), if: context.precondition())
    return (room, outcome)
  }

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<ScheduledMessage> {
    let row = try await chat.scheduledMessage(
      context.id("messageId"), of: context.id("roomId"), for: context.user)
    return try JSONBody.response(ScheduledMessage(row))
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<ScheduledMessagePage> {
    let (room, user): (RoomID, UserID) = try (context.id("roomId"), context.user)
    let cursors = PageCursors(.scheduledInRoom, of: room, in: chat.logIdentity)
    let place = try context.cursor().map { text throws(Refusal) in
      let (time, position) = try cursors.places(in: text)
      return ScheduledPlace(
        sendAt: Timestamp(milliseconds: Int64(bitPattern: time)), position: LogPosition(position))
    }
    let page = try await chat.scheduledMessages(of: user, in: room, after: place)
    return try await JSONBody.page(of: page.messages.count) {
      ScheduledMessagePage(
        scheduledMessages: page.messages.map { ScheduledMessage($0) },
        nextCursor: page.next.map {
          cursors.cursor(at: UInt64(bitPattern: $0.sendAt.milliseconds), $0.position.value)
        })
    }
  }

  func listAll(_ context: HansardRequestContext) async throws -> TypedResponse<ScheduledMessagePage> {
    let user = try context.user
    let cursors = PageCursors(.scheduled, of: user, in: chat.logIdentity)
    let page = try await chat.scheduledMessages(
      of: user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.messages.count) {
      ScheduledMessagePage(
        scheduledMessages: page.messages.map { ScheduledMessage($0) },
        nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}

extension ScheduledMessage {
  init(_ row: ScheduledRow) {
    self.init(
      id: row.id, roomId: row.room, senderId: row.message.author, text: row.message.content.text,
      sendAt: row.message.sendAt, status: row.failure == nil ? "pending" : "failed", failure: row.failure?.reason.name,
      failedAt: row.failure?.stamp.time, position: row.scheduled.position, revision: row.revision)
    threadId = row.message.thread
    if let details = row.message.content.details { show(details) }
  }

  fileprivate mutating func show(_ details: MessageDetails) {
    replyTo = details.replyTo
    mentions = MessageMentions(details.mentions)
    if !details.attachments.isEmpty { attachments = details.attachments.map { MessageAttachment($0) } }
    type = details.custom?.type
    data = details.custom.map { CanonicalJSON(unchecked: $0.body) }
    if details.custom?.isSilent == true { silent = true }
  }
}
