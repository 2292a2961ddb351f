import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.BadgeRoom

/// The badge of a user, and what it consists of.
struct BadgeHandlers: Sendable {
  let chat: ChatService

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<Badge> {
    let (badge, position) = try await chat.badge(of: context.user)
    return try JSONBody.response(Badge(badge, at: position))
  }

  func explain(_ context: HansardRequestContext) async throws -> TypedResponse<BadgeExplanation> {
    let user = try context.user
    let cursors = PageCursors(.badgeRooms, of: user, in: chat.logIdentity)
    let (page, messages, position) = try await chat.badgeRooms(
      of: user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.rooms.count) {
      BadgeExplanation(
        badge: Int(clamping: page.badge.unread),
        rooms: page.rooms.map { BadgeRoom($0, firstUnread: messages[$0.room]) },
        nextCursor: page.next.map { cursors.cursor(at: $0.value) }, position: position)
    }
  }
}

extension Badge {
  init(_ row: BadgeRow, at position: LogPosition) {
    self.init(
      unreadCount: Int(clamping: row.unread), mentionCount: Int(clamping: row.mentions),
      threadUnreadCount: Int(clamping: row.threadUnread), position: position)
  }
}

extension BadgeRoom {
  fileprivate init(_ row: ChatProjections.BadgeRoom, firstUnread: MessageRow?) {
    self.init(
      roomId: row.room, name: row.name, unreadCount: Int(clamping: row.unreadCount),
      mentionCount: Int(clamping: row.mentionCount),
      firstUnread: firstUnread.map { UnreadMessage(messageId: $0.id, sentAt: $0.sentAt) })
  }
}
