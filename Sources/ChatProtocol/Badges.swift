public import ChatPrimitives

/// `GET /v1/badge`: totals over all rooms of the caller that are neither archived, hidden nor muted.
public struct Badge: ResponseObject {
  public var unreadCount: Int
  public var mentionCount: Int
  /// Replies in threads that the caller follows; they are not in the other counts.
  public var threadUnreadCount: Int
  /// The position up to which the counts are correct.
  public var position: LogPosition

  public init(unreadCount: Int, mentionCount: Int, threadUnreadCount: Int, position: LogPosition) {
    self.unreadCount = unreadCount
    self.mentionCount = mentionCount
    self.threadUnreadCount = threadUnreadCount
    self.position = position
  }
}

/// `GET /v1/badge/explain`: the rooms and messages that make up `unreadCount` of the badge, latest activity first.
public struct BadgeExplanation: ListObject {
  /// The same as `unreadCount` of `GET /v1/badge`.
  public var badge: Int
  public var rooms: [BadgeRoom]
  @Nullable public var nextCursor: String?
  /// The position up to which the counts are correct.
  public var position: LogPosition

  public init(badge: Int, rooms: [BadgeRoom], nextCursor: String?, position: LogPosition) {
    self.badge = badge
    self.rooms = rooms
    self.nextCursor = nextCursor
    self.position = position
  }
}

/// What one room adds to the badge.
public struct BadgeRoom: Codable, Sendable, Hashable {
  public var roomId: RoomID
  /// Empty for a direct room.
  public var name: String
  public var unreadCount: Int
  public var mentionCount: Int
  /// The first of `messages`. Null if the caller lost access to the room while the server created the response.
  @Nullable public var firstUnread: UnreadMessage?
  /// The first messages that are counted in `unreadCount`, oldest first.
  public var messages: [UnreadMessage]
  /// Whether more messages are counted than `messages` has.
  public var more: Bool

  public init(
    roomId: RoomID, name: String, unreadCount: Int, mentionCount: Int, firstUnread: UnreadMessage?,
    messages: [UnreadMessage], more: Bool
  ) {
    self.roomId = roomId
    self.name = name
    self.unreadCount = unreadCount
    self.mentionCount = mentionCount
    self.firstUnread = firstUnread
    self.messages = messages
    self.more = more
  }
}

/// An unread message.
public struct UnreadMessage: Codable, Sendable, Hashable {
  public var messageId: MessageID
  public var senderId: UserID
  public var sentAt: Timestamp
  public var position: LogPosition

  public init(messageId: MessageID, senderId: UserID, sentAt: Timestamp, position: LogPosition) {
    self.messageId = messageId
    self.senderId = senderId
    self.sentAt = sentAt
    self.position = position
  }
}
