public import ChatPrimitives

/// `POST /v1/accounts`. With a service token the e-mail and password may be absent, and `externalId` may be given.
public struct CreateAccountRequest: RequestObject {
  /// Made by the client, so that a retry is recognised; the server makes one when it is absent.
  public let id: UserID?
  public let nickname: String
  public let email: String?
  public let password: String?
  /// The key that the team's own database has for the user.
  public let externalId: String?

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case nickname
    case email
    case password
    case externalId
  }
}

/// `PATCH /v1/me`
public struct UpdateMeRequest: RequestObject {
  public let nickname: String

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case nickname
  }
}

/// The public profile: what anyone who is logged in may see of a user.
public struct User: Codable, Sendable, Hashable {
  public var id: UserID
  public var nickname: String

  public init(id: UserID, nickname: String) {
    self.id = id
    self.nickname = nickname
  }
}

/// What a user sees of itself, and an administrator of any user.
public struct Account: Codable, Sendable, Hashable {
  public var id: UserID
  public var nickname: String
  @Nullable public var email: String?
  @Nullable public var externalId: String?
  /// Of the write that this answers; in a read, of the registration.
  public var position: LogPosition

  public init(id: UserID, nickname: String, email: String?, externalId: String?, position: LogPosition) {
    self.id = id
    self.nickname = nickname
    self.email = email
    self.externalId = externalId
    self.position = position
  }
}

/// `GET /v1/admin/users`
public struct UserList: Codable, Sendable, Hashable {
  public var users: [Account]

  public init(users: [Account]) {
    self.users = users
  }
}
