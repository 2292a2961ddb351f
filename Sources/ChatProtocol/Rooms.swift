public import ChatPrimitives

/// `POST /v1/rooms`
public struct CreateRoomRequest: RequestObject {
  /// Made by the client, so that a retry is recognised. A direct room's is made of its members by the server.
  public let id: RoomID?
  /// Of a group or a channel.
  public let name: String?
  /// `group` when absent.
  public let kind: String?
  /// Of a channel: whose it is.
  public let workspaceId: WorkspaceID?
  /// Of a workspace's channel: whether its members can find it and come in.
  public let isPublic: Bool?
  /// Of a group or a channel.
  public let topic: String?
  /// Of a direct room: those beside the caller.
  public let memberIds: [UserID]?

  public init(
    id: RoomID? = nil, name: String? = nil, kind: String? = nil, workspaceId: WorkspaceID? = nil,
    isPublic: Bool? = nil, topic: String? = nil, memberIds: [UserID]? = nil
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.workspaceId = workspaceId
    self.isPublic = isPublic
    self.topic = topic
    self.memberIds = memberIds
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case name
    case kind
    case workspaceId
    case isPublic
    case topic
    case memberIds
  }
}

/// `PATCH /v1/rooms/{roomId}` and `PATCH /v1/workspaces/{workspaceId}`: what is absent stays as it is.
public struct UpdatePlaceRequest: RequestObject {
  public let name: String?
  /// Empty takes it away.
  public let topic: String?
  /// A media ID; empty takes it away.
  public let picture: String?

  public init(name: String? = nil, topic: String? = nil, picture: String? = nil) {
    self.name = name
    self.topic = topic
    self.picture = picture
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case name
    case topic
    case picture
  }
}

/// `PUT /v1/rooms/{roomId}/mute`
public struct MuteRoomRequest: RequestObject {
  /// Null or absent lifts the mute.
  public let until: Timestamp?

  public init(until: Timestamp? = nil) {
    self.until = until
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case until
  }
}

/// A room as one member sees it.
public struct Room: ResponseObject {
  public var id: RoomID
  public var name: String
  public var kind: String
  public var memberCount: Int
  public var unreadCount: Int
  public var mentionCount: Int
  @Nullable public var lastMessage: Message?
  /// The caller's; null for who is no member.
  @Nullable public var role: String?
  @Nullable public var mutedUntil: Timestamp?
  /// How far the caller has read, the same on all devices; null until the caller has read or said something.
  @Nullable public var readMarker: ReadPoint?
  /// The message that the caller has marked as unread; null when there is no such mark.
  @Nullable public var unreadMark: MessageID?
  /// Until when the caller may not speak.
  @Nullable public var silencedUntil: Timestamp?
  /// Of a channel: whose it is.
  @Nullable public var workspaceId: WorkspaceID?
  public var isPublic: Bool
  @Nullable public var topic: String?
  @Nullable public var picture: MediaID?
  /// Of a direct room all of its members; empty for any other.
  public var participants: [UserID]
  public var createdAt: Timestamp
  @Nullable public var archivedAt: Timestamp?
  /// Of the write that this answers; in a read, of the last write to the room itself.
  public var position: LogPosition
  /// Where its looks were last changed, or it was last archived or opened again: what `If-Match` names.
  public var revision: LogPosition

  /// As it is when it was just made, without members or messages.
  public init(id: RoomID, name: String, kind: String, createdAt: Timestamp, revision: LogPosition) {
    self.id = id
    self.name = name
    self.kind = kind
    memberCount = 0
    unreadCount = 0
    mentionCount = 0
    lastMessage = nil
    role = nil
    mutedUntil = nil
    silencedUntil = nil
    readMarker = nil
    unreadMark = nil
    workspaceId = nil
    isPublic = false
    topic = nil
    picture = nil
    participants = []
    self.createdAt = createdAt
    archivedAt = nil
    position = revision
    self.revision = revision
  }
}

/// `GET /v1/rooms`: the room with the latest message first.
public struct RoomList: ResponseObject {
  public var rooms: [Room]
  /// The senders of the last messages, and the members of direct rooms.
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
  /// Until when the member may not speak.
  @Nullable public var silencedUntil: Timestamp?

  public init(user: User, role: String, joinedAt: Timestamp, silencedUntil: Timestamp?) {
    self.user = user
    self.role = role
    self.joinedAt = joinedAt
    self.silencedUntil = silencedUntil
  }
}

/// `GET /v1/rooms/{roomId}/members`: who joined first comes first.
public struct MemberList: ResponseObject {
  public var members: [Member]
  @Nullable public var nextCursor: String?

  public init(members: [Member], nextCursor: String?) {
    self.members = members
    self.nextCursor = nextCursor
  }
}

/// The receipt for joining, leaving, adding and removing, and for roles, bans and silence.
public struct Membership: ResponseObject {
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
public struct Badge: ResponseObject {
  public var unreadCount: Int
  public var mentionCount: Int
  /// Replies in the threads that the caller follows; not among the others.
  public var threadUnreadCount: Int
  /// The counts hold as of here.
  public var position: LogPosition

  public init(unreadCount: Int, mentionCount: Int, threadUnreadCount: Int, position: LogPosition) {
    self.unreadCount = unreadCount
    self.mentionCount = mentionCount
    self.threadUnreadCount = threadUnreadCount
    self.position = position
  }
}
