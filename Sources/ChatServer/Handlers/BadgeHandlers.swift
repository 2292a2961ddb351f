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
    return try await JSONBody.page(of: messages.values.reduce(page.rooms.count) { $0 + $1.count }) {
      BadgeExplanation(
        badge: Int(clamping: page.badge.unread),
        rooms: page.rooms.map { BadgeRoom($0, messages[$0.room] ?? []) },
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
  fileprivate init(_ row: ChatProjections.BadgeRoom, _ messages: [UnreadMessageRow]) {
    let messages = messages.map {
      UnreadMessage(messageId: $0.id, senderId: $0.sender, sentAt: $0.sentAt, position: $0.position)
    }
    self.init(
      roomId: row.room, name: row.name, unreadCount: Int(clamping: row.unreadCount),
      mentionCount: Int(clamping: row.mentionCount), firstUnread: messages.first, messages: messages,
      more: row.unreadCount > UInt64(messages.count))
  }
}
