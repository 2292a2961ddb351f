public import ChatPrimitives

/// `POST /v1/rooms/{roomId}/invites` and `POST /v1/workspaces/{workspaceId}/invites`. Rooms and workspaces have different
/// roles.
public struct CreateInviteRequest: RequestObject {
  /// Chosen by the client, so that a retry is recognized.
  public let id: InviteID?
  /// Null for an invite that never expires; if absent, seven days from now.
  public let expiresAt: Timestamp??
  /// If absent, as many as the room or workspace can have.
  public let maxUses: Int?
  /// If absent, `member`.
  public let role: String?
  /// Whether the invite also has a code that a person can type.
  public let code: Bool?

  public init(
    id: InviteID? = nil, expiresAt: Timestamp?? = nil, maxUses: Int? = nil, role: String? = nil, code: Bool? = nil
  ) {
    self.id = id
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.role = role
    self.code = code
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case expiresAt
    case maxUses
    case role
    case code
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decodeIfPresent(InviteID.self, forKey: .id)
    expiresAt =
      container.contains(.expiresAt)
      ? .some(try container.decodeIfPresent(Timestamp.self, forKey: .expiresAt)) : .none
    maxUses = try container.decodeIfPresent(Int.self, forKey: .maxUses)
    role = try container.decodeIfPresent(String.self, forKey: .role)
    code = try container.decodeIfPresent(Bool.self, forKey: .code)
  }
}

/// An invite link to a room, as users who may share the room see it.
public struct Invite: ResponseObject {
  public var id: InviteID
  public var roomId: RoomID
  public var token: String
  /// The app's own link, which contains the token.
  public var link: String
  /// The code that a person can type instead; null if the invite has none.
  @Nullable public var code: String?
  public var role: String
  /// Null if the invite never expires.
  @Nullable public var expiresAt: Timestamp?
  @Nullable public var maxUses: Int?
  public var uses: Int
  @Nullable public var revokedAt: Timestamp?
  public var position: LogPosition

  public init(
    id: InviteID, roomId: RoomID, token: String, link: String, code: String?, role: String,
    expiresAt: Timestamp?, maxUses: Int?, uses: Int, revokedAt: Timestamp?, position: LogPosition
  ) {
    self.id = id
    self.roomId = roomId
    self.token = token
    self.link = link
    self.code = code
    self.role = role
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.uses = uses
    self.revokedAt = revokedAt
    self.position = position
  }
}

/// `GET /v1/rooms/{roomId}/invites`: newest first.
public struct InviteList: ListObject {
  public var invites: [Invite]
  @Nullable public var nextCursor: String?

  public init(invites: [Invite], nextCursor: String?) {
    self.invites = invites
    self.nextCursor = nextCursor
  }
}

/// `GET /v1/invites/{token}`: what a user who has the token or the code can see before accepting. The invite is for the room
/// or, if `roomId` is null, for the workspace.
public struct InvitePreview: ResponseObject {
  @Nullable public var roomId: RoomID?
  @Nullable public var workspaceId: WorkspaceID?
  /// The name of the room or the workspace.
  public var name: String
  @Nullable public var topic: String?
  @Nullable public var picture: MediaID?
  public var memberCount: Int
  /// The role that the invite gives.
  public var role: String
  /// Null if the invite never expires.
  @Nullable public var expiresAt: Timestamp?
  /// Null if a service made the invite for itself.
  @Nullable public var inviter: User?

  public init(
    roomId: RoomID?, workspaceId: WorkspaceID?, name: String, topic: String?, picture: MediaID?, memberCount: Int,
    role: String, expiresAt: Timestamp?, inviter: User?
  ) {
    self.roomId = roomId
    self.workspaceId = workspaceId
    self.name = name
    self.topic = topic
    self.picture = picture
    self.memberCount = memberCount
    self.role = role
    self.expiresAt = expiresAt
    self.inviter = inviter
  }
}

/// The receipt for accepting an invite to the room or the workspace that is not null.
public struct Acceptance: ResponseObject {
  @Nullable public var roomId: RoomID?
  @Nullable public var workspaceId: WorkspaceID?
  public var userId: UserID
  public var position: LogPosition

  public init(roomId: RoomID?, workspaceId: WorkspaceID?, userId: UserID, position: LogPosition) {
    self.roomId = roomId
    self.workspaceId = workspaceId
    self.userId = userId
    self.position = position
  }
}
