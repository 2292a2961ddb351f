import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.FollowedThread
import struct ChatProtocol.ReadPoint
import struct ChatProtocol.User

struct ThreadHandlers: Sendable {
  let chat: ChatService

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<ThreadPage> {
    let (room, root): (RoomID, MessageID) = try (context.id("roomId"), context.id("messageId"))
    let cursors = PageCursors(.thread, of: root, in: room, chat.logIdentity)
    let (page, reading) = try await chat.thread(
      root, of: room, withType: context.messageType(), for: context.user, try MessagePaging.request(context, cursors),
      limit: context.limit())
    return try await JSONBody.page(of: page.messages.count) {
      var response = ThreadPage(MessagePage(page, cursors))
      if let reading, reading.follows {
        response.following = true
        response.unreadCount = Int(clamping: reading.unreadCount)
        response.mentionCount = Int(clamping: reading.mentionCount)
        response.readMarker = reading.read.map { ReadPoint(messageId: $0.message, readAt: $0.time) }
      }
      return response
    }
  }

  func moveMarker(
    _ context: HansardRequestContext, _ body: TypedBody<MoveReadMarkerRequest>
  ) async throws -> TypedResponse<ThreadMarker> {
    let (room, root): (RoomID, MessageID) = try (context.id("roomId"), context.id("messageId"))
    let body = try await body.decoded()
    let outcome = try await chat.performRoom(
      room, .threads(.moveMarker(to: body.messageId, in: root)), by: context.actor,
      command: context.command())
    return try JSONBody.receipt(
      outcome.result,
      ThreadMarker(roomId: room, threadId: root, messageId: body.messageId, position: outcome.stamp.position))
  }

  func follow(
    _ context: HansardRequestContext, _ body: TypedBody<FollowThreadRequest>
  ) async throws -> TypedResponse<ThreadFollowing> {
    let (room, root): (RoomID, MessageID) = try (context.id("roomId"), context.id("messageId"))
    let body = try await body.decoded()
    let outcome = try await chat.performRoom(
      room, .threads(.setFollowing(root, body.follows)), by: context.actor, command: context.command())
    return try JSONBody.receipt(
      outcome.result,
      ThreadFollowing(roomId: room, threadId: root, follows: body.follows, position: outcome.stamp.position))
  }

  func followed(_ context: HansardRequestContext) async throws -> TypedResponse<ThreadList> {
    let user = try context.user
    let cursors = PageCursors(.threads, of: user, in: chat.logIdentity)
    let page = try await chat.followedThreads(
      of: user, RoomListFilter(context), after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.threads.count) {
      let threads = page.threads.map { FollowedThread($0, root: $1) }
      return ThreadList(
        threads: threads, users: [User](page.profiles), nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }
}

extension FollowedThread {
  init(_ thread: ChatProjections.FollowedThread, root: ShownMessage) {
    self.init(
      root: Message(root), unreadCount: Int(clamping: thread.unreadCount),
      mentionCount: Int(clamping: thread.mentionCount))
  }
}
