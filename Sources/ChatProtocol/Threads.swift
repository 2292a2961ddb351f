public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/messages/{messageId}/thread/following`
public struct FollowThreadRequest: RequestObject {
  public let follows: Bool

  public init(follows: Bool) {
    self.follows = follows
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case follows
  }
}

/// The receipt for following or unfollowing a thread.
public struct ThreadFollowing: ResponseObject {
  public var roomId: RoomID
  /// The thread's root.
  public var threadId: MessageID
  public var follows: Bool
  public var position: LogPosition

  public init(roomId: RoomID, threadId: MessageID, follows: Bool, position: LogPosition) {
    self.roomId = roomId
    self.threadId = threadId
    self.follows = follows
    self.position = position
  }
}

/// How far a user has read in a thread.
public struct ThreadMarker: ResponseObject {
  public var roomId: RoomID
  /// The thread's root.
  public var threadId: MessageID
  /// The message that the request named.
  public var messageId: MessageID
  public var position: LogPosition

  public init(roomId: RoomID, threadId: MessageID, messageId: MessageID, position: LogPosition) {
    self.roomId = roomId
    self.threadId = threadId
    self.messageId = messageId
    self.position = position
  }
}

/// `GET /v1/rooms/{roomId}/messages/{messageId}/thread`: a page of a thread, oldest first, and what the caller has read
/// of it.
public struct ThreadPage: ListObject {
  public var messages: [Message]
  /// The senders, the users whom messages mention or quote, and the participants of threads.
  public var users: [User]
  @Nullable public var nextCursor: String?
  @Nullable public var previousCursor: String?
  /// Whether the caller follows the thread. For a caller who does not, nothing in it is unread.
  public var following: Bool
  public var unreadCount: Int
  public var mentionCount: Int
  /// How far the caller has read; null until the caller, as a follower, has read or sent something.
  @Nullable public var readMarker: ReadPoint?

  /// The page for a caller who does not follow the thread.
  public init(_ page: MessagePage) {
    messages = page.messages
    users = page.users
    nextCursor = page.nextCursor
    previousCursor = page.previousCursor
    following = false
    unreadCount = 0
    mentionCount = 0
    readMarker = nil
  }
}

/// A thread that the caller follows.
public struct FollowedThread: Codable, Sendable, Hashable {
  /// Includes the summary of its thread.
  public var root: Message
  public var unreadCount: Int
  public var mentionCount: Int

  public init(root: Message, unreadCount: Int, mentionCount: Int) {
    self.root = root
    self.unreadCount = unreadCount
    self.mentionCount = mentionCount
  }
}

/// `GET /v1/threads`: the threads that the caller follows, the one with the latest reply first.
public struct ThreadList: ListObject {
  public var threads: [FollowedThread]
  /// The senders of the roots, the users whom they mention or quote, and the participants.
  public var users: [User]
  @Nullable public var nextCursor: String?

  public init(threads: [FollowedThread], users: [User], nextCursor: String?) {
    self.threads = threads
    self.users = users
    self.nextCursor = nextCursor
  }
}
