public import ChatPrimitives

/// `POST /v1/rooms`
public struct CreateRoomRequest: RequestObject {
  /// Made by the client, so that a retry is recognised.
  public let id: RoomID?
  public let name: String
  /// `group` when absent.
  public let kind: String?

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case name
    case kind
  }
}

/// `PATCH /v1/rooms/{roomId}`
public struct UpdateRoomRequest: RequestObject {
  public let name: String

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case name
  }
}

/// `PUT /v1/rooms/{roomId}/mute`
public struct MuteRoomRequest: RequestObject {
  /// Null or absent lifts the mute.
  public let until: Timestamp?

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case until
  }
}

/// A room as one member sees it.
public struct Room: Codable, Sendable, Hashable {
  public var id: RoomID
  public var name: String
  public var kind: String
  public var memberCount: Int
  public var unreadCount: Int
  public var mentionCount: Int
  @Nullable public var lastMessage: Message?
  /// The caller's; null for a service that is no member.
  @Nullable public var role: String?
  @Nullable public var mutedUntil: Timestamp?
  public var createdAt: Timestamp
  @Nullable public var archivedAt: Timestamp?
  /// Of the write that this answers; in a read, of the last write to the room itself.
  public var position: LogPosition

  public init(
    id: RoomID, name: String, kind: String, memberCount: Int, unreadCount: Int, mentionCount: Int,
    lastMessage:
      Message?, role: String?, mutedUntil: Timestamp?, createdAt: Timestamp, archivedAt: Timestamp?,
    position:
      LogPosition
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.memberCount = memberCount
    self.unreadCount = unreadCount
    self.mentionCount = mentionCount
    self.lastMessage = lastMessage
    self.role = role
    self.mutedUntil = mutedUntil
    self.createdAt = createdAt
    self.archivedAt = archivedAt
    self.position = position
  }
}

/// `GET /v1/rooms`: the room with the latest message first.
public struct RoomList: Codable, Sendable, Hashable {
  public var rooms: [Room]
  /// The senders of the last messages.
  public var users: [User]
  @Nullable public var nextCursor: String?

  public init(rooms: [Room], users: [User], nextCursor: String?) {
    self.rooms = rooms
    self.users = users
    self.nextCursor = nextCursor
  }
}

/// A member of a room.
public struct Member: Codable, Sendable, Hashable {
  public var user: User
  public var role: String
  public var joinedAt: Timestamp

  public init(user: User, role: String, joinedAt: Timestamp) {
    self.user = user
    self.role = role
    self.joinedAt = joinedAt
  }
}

/// `GET /v1/rooms/{roomId}/members`: who joined first comes first.
public struct MemberList: Codable, Sendable, Hashable {
  public var members: [Member]
  @Nullable public var nextCursor: String?

  public init(members: [Member], nextCursor: String?) {
    self.members = members
    self.nextCursor = nextCursor
  }
}

/// The receipt for joining, leaving, adding and removing.
public struct Membership: Codable, Sendable, Hashable {
  public var roomId: RoomID
  public var userId: UserID
  public var position: LogPosition

  public init(roomId: RoomID, userId: UserID, position: LogPosition) {
    self.roomId = roomId
    self.userId = userId
    self.position = position
  }
}

/// `GET /v1/badge`: over all rooms of the caller that are neither archived nor muted.
public struct Badge: Codable, Sendable, Hashable {
  public var unreadCount: Int
  public var mentionCount: Int
  /// The counts hold as of here.
  public var position: LogPosition

  public init(unreadCount: Int, mentionCount: Int, position: LogPosition) {
    self.unreadCount = unreadCount
    self.mentionCount = mentionCount
    self.position = position
  }
}
