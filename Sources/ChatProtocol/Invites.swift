public import ChatPrimitives

/// `POST /v1/rooms/{roomId}/invites`
public struct CreateInviteRequest: RequestObject {
  /// Made by the client, so that a retry is recognised.
  public let id: InviteID?
  /// Seven days from now when absent.
  public let expiresAt: Timestamp?
  /// As many as the room takes when absent.
  public let maxUses: Int?
  /// `member` when absent.
  public let role: String?

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case expiresAt
    case maxUses
    case role
  }
}

/// A link into a room, as those see it who may share the room.
public struct Invite: Codable, Sendable, Hashable {
  public var id: InviteID
  public var roomId: RoomID
  /// What a client puts into a link.
  public var token: String
  public var role: String
  public var expiresAt: Timestamp
  @Nullable public var maxUses: Int?
  public var uses: Int
  @Nullable public var revokedAt: Timestamp?
  public var position: LogPosition

  public init(
    id: InviteID, roomId: RoomID, token: String, role: String, expiresAt: Timestamp, maxUses: Int?, uses: Int,
    revokedAt: Timestamp?, position: LogPosition
  ) {
    self.id = id
    self.roomId = roomId
    self.token = token
    self.role = role
    self.expiresAt = expiresAt
    self.maxUses = maxUses
    self.uses = uses
    self.revokedAt = revokedAt
    self.position = position
  }
}

/// `GET /v1/rooms/{roomId}/invites`: the newest first.
public struct InviteList: Codable, Sendable, Hashable {
  public var invites: [Invite]

  public init(invites: [Invite]) {
    self.invites = invites
  }
}

/// `GET /v1/invites/{token}`: what whoever holds the token may see before accepting.
public struct InvitePreview: Codable, Sendable, Hashable {
  public var roomId: RoomID
  public var roomName: String
  public var memberCount: Int
  public var role: String
  public var expiresAt: Timestamp

  public init(roomId: RoomID, roomName: String, memberCount: Int, role: String, expiresAt: Timestamp) {
    self.roomId = roomId
    self.roomName = roomName
    self.memberCount = memberCount
    self.role = role
    self.expiresAt = expiresAt
  }
}
