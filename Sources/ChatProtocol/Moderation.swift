public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/members/{userId}/role`
public struct RoomRoleRequest: RequestObject {
  public let role: String

  public init(role: String) {
    self.role = role
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case role
  }
}

/// `POST /v1/rooms/{roomId}/transfer` and `POST /v1/workspaces/{workspaceId}/transfer`
public struct TransferRequest: RequestObject {
  /// The new owner.
  public let userId: UserID

  public init(userId: UserID) {
    self.userId = userId
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case userId
  }
}

/// `PUT /v1/rooms/{roomId}/members/{userId}/silence`
public struct SilenceRequest: RequestObject {
  /// Null or absent ends the silence.
  public let until: Timestamp?

  public init(until: Timestamp? = nil) {
    self.until = until
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case until
  }
}

/// The receipt for the deletion of a room.
public struct RoomReceipt: ResponseObject {
  public var roomId: RoomID
  public var position: LogPosition

  public init(roomId: RoomID, position: LogPosition) {
    self.roomId = roomId
    self.position = position
  }
}

/// A user who is banned from the room.
public struct Ban: Codable, Sendable, Hashable {
  public var user: User
  public var bannedAt: Timestamp
  /// Null if a service acted for itself.
  @Nullable public var bannedBy: User?

  public init(user: User, bannedAt: Timestamp, bannedBy: User?) {
    self.user = user
    self.bannedAt = bannedAt
    self.bannedBy = bannedBy
  }
}

/// `GET /v1/rooms/{roomId}/bans`: newest first.
public struct BanList: ListObject {
  public var bans: [Ban]
  @Nullable public var nextCursor: String?

  public init(bans: [Ban], nextCursor: String?) {
    self.bans = bans
    self.nextCursor = nextCursor
  }
}

/// A change of one membership.
public struct MembershipChange: Codable, Sendable, Hashable {
  /// `joined`, `added`, `left`, `removed`, `banned`, `unbanned` or `role_changed`.
  public var change: String
  public var user: User
  /// The role with which the user joined, or the user's new role; null for other changes.
  @Nullable public var role: String?
  /// Who made the change: the user, another member, or null for a service that acted for itself.
  @Nullable public var by: User?
  public var at: Timestamp
  public var position: LogPosition

  public init(change: String, user: User, role: String?, by: User?, at: Timestamp, position: LogPosition) {
    self.change = change
    self.user = user
    self.role = role
    self.by = by
    self.at = at
    self.position = position
  }
}

/// `GET /v1/rooms/{roomId}/join-history`: newest first.
public struct JoinHistory: ListObject {
  public var changes: [MembershipChange]
  @Nullable public var nextCursor: String?

  public init(changes: [MembershipChange], nextCursor: String?) {
    self.changes = changes
    self.nextCursor = nextCursor
  }
}
