public import ChatPrimitives

/// `POST /v1/rooms`
public struct CreateRoomRequest: RequestObject {
  /// Chosen by the client, so that a retry is recognized. The server derives a direct room's ID from its members.
  public let id: RoomID?
  /// For a group or a channel.
  public let name: String?
  /// If absent, `group`.
  public let kind: String?
  /// The workspace of a channel or a direct room.
  public let workspaceId: WorkspaceID?
  /// For a channel of a workspace: whether members of the workspace, except guests, can find and join it.
  public let isPublic: Bool?
  /// For a group or a channel.
  public let topic: String?
  /// For a direct room: the members besides the caller. Otherwise: users who become members at once.
  public let memberIds: [UserID]?
  /// For a group or a channel: any JSON, the app's own data.
  public let custom: CanonicalJSON?

  public init(
    id: RoomID? = nil, name: String? = nil, kind: String? = nil, workspaceId: WorkspaceID? = nil,
    isPublic: Bool? = nil, topic: String? = nil, memberIds: [UserID]? = nil, custom: CanonicalJSON? = nil
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.workspaceId = workspaceId
    self.isPublic = isPublic
    self.topic = topic
    self.memberIds = memberIds
    self.custom = custom
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case name
    case kind
    case workspaceId
    case isPublic
    case topic
    case memberIds
    case custom
  }
}

/// `PATCH /v1/rooms/{roomId}`: absent fields stay as they are.
public struct UpdateRoomRequest: RequestObject {
  public let name: String?
  /// An empty text removes the topic.
  public let topic: String?
  /// A media ID; an empty text removes the picture.
  public let picture: String?
  /// Any JSON: the app's own data, which replaces what was stored. Null removes it.
  public let custom: CanonicalJSON?

  public init(name: String? = nil, topic: String? = nil, picture: String? = nil, custom: CanonicalJSON? = nil) {
    self.name = name
    self.topic = topic
    self.picture = picture
    self.custom = custom
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case name
    case topic
    case picture
    case custom
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decodeIfPresent(String.self, forKey: .name)
    topic = try container.decodeIfPresent(String.self, forKey: .topic)
    picture = try container.decodeIfPresent(String.self, forKey: .picture)
    custom =
      container.contains(.custom) ? try container.decodeIfPresent(CanonicalJSON.self, forKey: .custom) ?? .null : nil
  }
}

/// `PATCH /v1/workspaces/{workspaceId}`: absent fields stay as they are.
public struct UpdatePlaceRequest: RequestObject {
  public let name: String?
  /// An empty text removes the topic.
  public let topic: String?
  /// A media ID; an empty text removes the picture.
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
  /// Null or absent unmutes the room.
  public let until: Timestamp?

  public init(until: Timestamp? = nil) {
    self.until = until
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case until
  }
}

/// `PUT /v1/rooms/{roomId}/notifications`
public struct SetRoomNotificationsRequest: RequestObject {
  /// `all`, `mentions` or `none`. Null or absent: as in the caller's preferences.
  public let level: String?

  public init(level: String? = nil) {
    self.level = level
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case level
  }
}

/// `PUT /v1/rooms/{roomId}/hidden`
public struct HideRoomRequest: RequestObject {
  public let isHidden: Bool

  public init(isHidden: Bool) {
    self.isHidden = isHidden
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case isHidden
  }
}

/// A room as the caller sees it.
public struct Room: ResponseObject {
  public var id: RoomID
  public var name: String
  public var kind: String
  public var memberCount: Int
  public var unreadCount: Int
  public var mentionCount: Int
  @Nullable public var lastMessage: Message?
  /// The caller's role; null for a caller who is not a member.
  @Nullable public var role: String?
  @Nullable public var mutedUntil: Timestamp?
  /// Which notifications the caller gets: `all`, `mentions` or `none`; null for those of the caller's preferences.
  @Nullable public var notifications: String?
  /// Whether the caller has hidden this direct room, until the next message.
  public var isHidden: Bool
  /// How far the caller has read, the same on all devices; null until the caller has read or sent something.
  @Nullable public var readMarker: ReadPoint?
  /// The message that the caller has marked as unread; null if there is none.
  @Nullable public var unreadMark: MessageID?
  /// Until when the caller cannot send messages.
  @Nullable public var silencedUntil: Timestamp?
  /// The workspace of a channel or a direct room.
  @Nullable public var workspaceId: WorkspaceID?
  public var isPublic: Bool
  @Nullable public var topic: String?
  @Nullable public var picture: MediaID?
  /// The app's own data, any JSON; absent if there is none.
  public var custom: CanonicalJSON?
  /// All members of a direct room, and those who have left its workspace; empty for any other room.
  public var participants: [UserID]
  public var createdAt: Timestamp
  @Nullable public var archivedAt: Timestamp?
  /// In the response to a write, the position of that write; in a read, that of the last write to the room itself.
  public var position: LogPosition
  /// Where the name, topic, picture or the app's own data was last changed, or the room was last archived or restored. `If-Match` uses it.
  public var revision: LogPosition

  /// A new room, without members or messages.
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
    notifications = nil
    isHidden = false
    silencedUntil = nil
    readMarker = nil
    unreadMark = nil
    workspaceId = nil
    isPublic = false
    topic = nil
    picture = nil
    custom = nil
    participants = []
    self.createdAt = createdAt
    archivedAt = nil
    position = revision
    self.revision = revision
  }
}

/// `GET /v1/rooms`: the room with the latest message first.
public struct RoomList: ListObject {
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
  /// Until when the member cannot send messages.
  @Nullable public var silencedUntil: Timestamp?

  public init(user: User, role: String, joinedAt: Timestamp, silencedUntil: Timestamp?) {
    self.user = user
    self.role = role
    self.joinedAt = joinedAt
    self.silencedUntil = silencedUntil
  }
}

/// `GET /v1/rooms/{roomId}/members`: in the order in which they joined.
public struct MemberList: ListObject {
  public var members: [Member]
  @Nullable public var nextCursor: String?

  public init(members: [Member], nextCursor: String?) {
    self.members = members
    self.nextCursor = nextCursor
  }
}

/// The receipt for joining, leaving, adding and removing, and for changes of roles, bans and silences.
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
