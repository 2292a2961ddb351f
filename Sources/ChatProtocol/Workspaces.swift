public import ChatPrimitives

/// `POST /v1/workspaces`
public struct CreateWorkspaceRequest: RequestObject {
  /// Chosen by the client, so that a retry is recognized.
  public let id: WorkspaceID?
  public let name: String
  public let topic: String?

  public init(id: WorkspaceID? = nil, name: String, topic: String? = nil) {
    self.id = id
    self.name = name
    self.topic = topic
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case name
    case topic
  }
}

/// A workspace as the caller sees it.
public struct Workspace: ResponseObject {
  public var id: WorkspaceID
  public var name: String
  @Nullable public var topic: String?
  @Nullable public var picture: MediaID?
  public var memberCount: Int
  /// The caller's role; null for a service that acts for itself.
  @Nullable public var role: String?
  /// Unread messages in the caller's channels and direct rooms of the workspace that are neither archived, hidden nor muted.
  public var unreadCount: Int
  /// How many of them mention the caller.
  public var mentionCount: Int
  public var createdAt: Timestamp
  /// In the response to a write, the position of that write; in a read, that of the last write to the workspace itself.
  public var position: LogPosition
  /// Where the name, topic or picture was last changed. `If-Match` uses it.
  public var revision: LogPosition

  public init(
    id: WorkspaceID, name: String, topic: String?, picture: MediaID?, memberCount: Int, role: String?,
    unreadCount: Int = 0, mentionCount: Int = 0, createdAt: Timestamp, revision: LogPosition
  ) {
    self.id = id
    self.name = name
    self.topic = topic
    self.picture = picture
    self.memberCount = memberCount
    self.role = role
    self.unreadCount = unreadCount
    self.mentionCount = mentionCount
    self.createdAt = createdAt
    position = revision
    self.revision = revision
  }
}

/// `GET /v1/workspaces`: in the order in which the caller joined them.
public struct WorkspaceList: ListObject {
  public var workspaces: [Workspace]
  @Nullable public var nextCursor: String?

  public init(workspaces: [Workspace], nextCursor: String?) {
    self.workspaces = workspaces
    self.nextCursor = nextCursor
  }
}

/// A member of a workspace.
public struct WorkspaceMember: Codable, Sendable, Hashable {
  public var user: User
  public var role: String
  public var joinedAt: Timestamp

  public init(user: User, role: String, joinedAt: Timestamp) {
    self.user = user
    self.role = role
    self.joinedAt = joinedAt
  }
}

/// `GET /v1/workspaces/{workspaceId}/members`: in the order in which they joined.
public struct WorkspaceMemberList: ListObject {
  public var members: [WorkspaceMember]
  @Nullable public var nextCursor: String?

  public init(members: [WorkspaceMember], nextCursor: String?) {
    self.members = members
    self.nextCursor = nextCursor
  }
}

/// The receipt for a change that concerns one user of a workspace.
public struct WorkspaceMembership: ResponseObject {
  public var workspaceId: WorkspaceID
  public var userId: UserID
  public var position: LogPosition

  public init(workspaceId: WorkspaceID, userId: UserID, position: LogPosition) {
    self.workspaceId = workspaceId
    self.userId = userId
    self.position = position
  }
}

/// The receipt for the deletion of a workspace.
public struct WorkspaceReceipt: ResponseObject {
  public var workspaceId: WorkspaceID
  public var position: LogPosition

  public init(workspaceId: WorkspaceID, position: LogPosition) {
    self.workspaceId = workspaceId
    self.position = position
  }
}

/// `PUT /v1/workspaces/{workspaceId}/members/{userId}/role` and `PUT
/// /v1/workspaces/{workspaceId}/invitations/{userId}`. Workspaces and rooms have different roles.
public struct WorkspaceRoleRequest: RequestObject {
  public let role: String

  public init(role: String) {
    self.role = role
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case role
  }
}

/// An invite link to a workspace, as its administrators see it.
public struct WorkspaceInvite: ResponseObject {
  public var id: InviteID
  public var workspaceId: WorkspaceID
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
    id: InviteID, workspaceId: WorkspaceID, token: String, link: String, code: String?, role: String,
    expiresAt: Timestamp?, maxUses: Int?, uses: Int, revokedAt: Timestamp?, position: LogPosition
  ) {
    self.id = id
    self.workspaceId = workspaceId
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

/// `GET /v1/workspaces/{workspaceId}/invites`: newest first.
public struct WorkspaceInviteList: ListObject {
  public var invites: [WorkspaceInvite]
  @Nullable public var nextCursor: String?

  public init(invites: [WorkspaceInvite], nextCursor: String?) {
    self.invites = invites
    self.nextCursor = nextCursor
  }
}

/// An invitation of a user who has not responded yet.
public struct Invitation: Codable, Sendable, Hashable {
  public var workspaceId: WorkspaceID
  public var workspaceName: String
  @Nullable public var workspacePicture: MediaID?
  public var user: User
  public var role: String
  /// Null if a service acted for itself.
  @Nullable public var invitedBy: User?
  public var invitedAt: Timestamp

  public init(
    workspaceId: WorkspaceID, workspaceName: String, workspacePicture: MediaID?, user: User, role: String,
    invitedBy: User?, invitedAt: Timestamp
  ) {
    self.workspaceId = workspaceId
    self.workspaceName = workspaceName
    self.workspacePicture = workspacePicture
    self.user = user
    self.role = role
    self.invitedBy = invitedBy
    self.invitedAt = invitedAt
  }
}

/// `GET /v1/me/invitations` and `GET /v1/workspaces/{workspaceId}/invitations`: newest first.
public struct InvitationList: ListObject {
  public var invitations: [Invitation]
  @Nullable public var nextCursor: String?

  public init(invitations: [Invitation], nextCursor: String?) {
    self.invitations = invitations
    self.nextCursor = nextCursor
  }
}
