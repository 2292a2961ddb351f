public import ChatPrimitives

/// A user whom the caller blocks.
public struct BlockedUser: Codable, Sendable, Hashable {
  public var user: User
  public var blockedAt: Timestamp

  public init(user: User, blockedAt: Timestamp) {
    self.user = user
    self.blockedAt = blockedAt
  }
}

/// `GET /v1/me/blocked-users`: the users whom the caller blocks, the newest block first.
public struct BlockedUserList: ListObject {
  public var blockedUsers: [BlockedUser]
  @Nullable public var nextCursor: String?

  public init(blockedUsers: [BlockedUser], nextCursor: String?) {
    self.blockedUsers = blockedUsers
    self.nextCursor = nextCursor
  }
}

/// The receipt for blocking and unblocking.
public struct BlockReceipt: ResponseObject {
  public var user: User
  /// Since when the caller blocks the user; null after unblocking.
  @Nullable public var blockedAt: Timestamp?
  public var position: LogPosition

  public init(user: User, blockedAt: Timestamp?, position: LogPosition) {
    self.user = user
    self.blockedAt = blockedAt
    self.position = position
  }
}
