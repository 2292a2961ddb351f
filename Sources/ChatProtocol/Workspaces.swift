public import ChatPrimitives

/// `POST /v1/workspaces`
public struct CreateWorkspaceRequest: RequestObject {
  /// Made by the client, so that a retry is recognised.
  public let id: WorkspaceID?
  public let name: String

  public init(id: WorkspaceID? = nil, name: String) {
    self.id = id
    self.name = name
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case name
  }
}

/// A workspace as one of its members sees it.
public struct Workspace: ResponseObject {
  public var id: WorkspaceID
  public var name: String
  @Nullable public var topic: String?
  @Nullable public var picture: MediaID?
  public var memberCount: Int
  /// The caller's; null for a service that acts for itself.
  @Nullable public var role: String?
  /// In the channels that the caller is a member of and that are neither archived nor muted.
  public var unreadCount: Int
  /// How many of them call the caller.
  public var mentionCount: Int
  public var createdAt: Timestamp
  /// Of the write that this answers; in a read, of the last write to the workspace itself.
  public var position: LogPosition
  /// Where its looks were last changed: what `If-Match` names.
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

/// `GET /v1/workspaces`: the one that the caller joined first comes first.
public struct WorkspaceList: ResponseObject {
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

/// `GET /v1/workspaces/{workspaceId}/members`: who joined first comes first.
public struct WorkspaceMemberList: ResponseObject {
  public var members: [WorkspaceMember]
  @Nullable public var nextCursor: String?

  public init(members: [WorkspaceMember], nextCursor: String?) {
    self.members = members
    self.nextCursor = nextCursor
  }
}

/// The receipt for what concerns one user of a workspace.
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

/// `PUT /v1/workspaces/{workspaceId}/members/{userId}/role` and
/// `PUT /v1/workspaces/{workspaceId}/invitations/{userId}`. A workspace has other roles than a room.
public struct WorkspaceRoleRequest: RequestObject {
  public let role: String

  public init(role: String) {
    self.role = role
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case role
  }
}

/// `POST /v1/workspaces/{workspaceId}/invites`
public struct CreateWorkspaceInviteRequest: RequestObject {
  /// Made by the client, so that a retry is recognised.
  public let id: InviteID?
  /// Seven days from now when absent.
  public let expiresAt: Timestamp?
  /// As many as the workspace takes when absent.
  public let maxUses: Int?
  /// `member` when absent.
  public let role: String?

  public init(id: InviteID? = nil, expiresAt: Timestamp? = nil, maxUses: Int? = nil, role: String? = nil) {
    self.id = id
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.role = role
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case expiresAt
    case maxUses
    case role
  }
}

/// A link into a workspace, as its administrators see it.
public struct WorkspaceInvite: ResponseObject {
  public var id: InviteID
  public var workspaceId: WorkspaceID
  public var token: String
  /// The app's own link with the token in it.
  public var link: String
  public var role: String
  public var expiresAt: Timestamp
  @Nullable public var maxUses: Int?
  public var uses: Int
  @Nullable public var revokedAt: Timestamp?
  public var position: LogPosition

  public init(
    id: InviteID, workspaceId: WorkspaceID, token: String, link: String, role: String, expiresAt: Timestamp,
    maxUses: Int?, uses: Int, revokedAt: Timestamp?, position: LogPosition
  ) {
    self.id = id
    self.workspaceId = workspaceId
    self.token = token
    self.link = link
    self.role = role
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.uses = uses
    self.revokedAt = revokedAt
    self.position = position
  }
}

/// `GET /v1/workspaces/{workspaceId}/invites`: the newest first.
public struct WorkspaceInviteList: ResponseObject {
  public var invites: [WorkspaceInvite]
  @Nullable public var nextCursor: String?

  public init(invites: [WorkspaceInvite], nextCursor: String?) {
    self.invites = invites
    self.nextCursor = nextCursor
  }
}

/// An invitation by name that is not answered yet.
public struct Invitation: Codable, Sendable, Hashable {
  public var workspaceId: WorkspaceID
  public var workspaceName: String
  @Nullable public var workspacePicture: MediaID?
  public var user: User
  public var role: String
  /// Null when a service did it for itself.
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

/// `GET /v1/me/invitations` and `GET /v1/workspaces/{workspaceId}/invitations`: the newest first.
public struct InvitationList: ResponseObject {
  public var invitations: [Invitation]
  @Nullable public var nextCursor: String?

  public init(invitations: [Invitation], nextCursor: String?) {
    self.invitations = invitations
    self.nextCursor = nextCursor
  }
}
