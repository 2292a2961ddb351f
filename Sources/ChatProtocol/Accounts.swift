public import ChatPrimitives

/// `POST /v1/accounts`. With a service token the e-mail and password may be absent, and `externalId` may be given; where
/// the operator allows guests, the e-mail may be absent.
public struct CreateAccountRequest: RequestObject {
  /// Made by the client, so that a retry is recognised; the server makes one when it is absent.
  public let id: UserID?
  public let nickname: String
  public let email: String?
  public let password: String?
  /// The key that the team's own database has for the user.
  public let externalId: String?

  public init(
    id: UserID? = nil, nickname: String, email: String? = nil, password: String? = nil, externalId: String? = nil
  ) {
    self.id = id
    self.nickname = nickname
    self.email = email
    self.password = password
    self.externalId = externalId
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case id
    case nickname
    case email
    case password
    case externalId
  }
}

/// `PATCH /v1/me`: the profile, or the e-mail address by itself.
public struct UpdateMeRequest: RequestObject {
  public let nickname: String?
  /// Null takes the picture away; absent leaves it as it is.
  public let picture: MediaID??
  public let email: String?
  /// With `email`.
  public let currentPassword: String?

  public init(nickname: String? = nil, picture: MediaID?? = nil, email: String? = nil, currentPassword: String? = nil) {
    self.nickname = nickname
    self.picture = picture
    self.email = email
    self.currentPassword = currentPassword
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case nickname
    case picture
    case email
    case currentPassword
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    nickname = try container.decodeIfPresent(String.self, forKey: .nickname)
    picture =
      container.contains(.picture) ? .some(try container.decodeIfPresent(MediaID.self, forKey: .picture)) : .none
    email = try container.decodeIfPresent(String.self, forKey: .email)
    currentPassword = try container.decodeIfPresent(String.self, forKey: .currentPassword)
  }
}

/// The names of users that come with a page: the part of the public profile that a list needs.
public struct User: Codable, Sendable, Hashable {
  public var id: UserID
  public var nickname: String

  public init(id: UserID, nickname: String) {
    self.id = id
    self.nickname = nickname
  }
}

/// `GET /v1/users/{userId}`: what anyone who is logged in may see of a user. Never a device, a token or an e-mail.
public struct PublicProfile: ResponseObject {
  public var id: UserID
  public var nickname: String
  @Nullable public var picture: MediaID?
  /// A password is all that stands for the user.
  public var isGuest: Bool

  public init(id: UserID, nickname: String, picture: MediaID?, isGuest: Bool) {
    self.id = id
    self.nickname = nickname
    self.picture = picture
    self.isGuest = isGuest
  }
}

/// What a user sees of itself, and an administrator of any user.
public struct Account: ResponseObject {
  public var id: UserID
  public var nickname: String
  @Nullable public var picture: MediaID?
  @Nullable public var email: String?
  @Nullable public var externalId: String?
  public var hasPassword: Bool
  /// A password is all that stands for the user: no e-mail address, no externalId, no login elsewhere.
  public var isGuest: Bool
  /// The logins elsewhere, in the order in which they were linked.
  public var identities: [LinkedIdentity]
  /// Since when the account is disabled.
  @Nullable public var disabledAt: Timestamp?
  /// Of the write that this answers; in a read, of the registration.
  public var position: LogPosition
  /// Where the profile or the e-mail address was last changed: what `If-Match` names.
  public var revision: LogPosition

  public init(
    id: UserID, nickname: String, picture: MediaID?, email: String?, externalId: String?, hasPassword: Bool,
    isGuest: Bool, identities: [LinkedIdentity], disabledAt: Timestamp?, position: LogPosition,
    revision: LogPosition
  ) {
    self.id = id
    self.nickname = nickname
    self.picture = picture
    self.email = email
    self.externalId = externalId
    self.hasPassword = hasPassword
    self.isGuest = isGuest
    self.identities = identities
    self.disabledAt = disabledAt
    self.position = position
    self.revision = revision
  }
}

/// A login elsewhere, by the claims `iss` and `sub` of its ID tokens.
public struct LinkedIdentity: Codable, Sendable, Hashable {
  public var issuer: String
  public var subject: String

  public init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }
}

/// `POST /v1/me/identities`
public struct LinkIdentityRequest: RequestObject {
  public let idToken: String
  public let nonce: String?
  /// Where the account has a password, and no service asks.
  public let currentPassword: String?
  /// Where it has none: of a login that it has already.
  public let linkedIdToken: String?
  public let linkedNonce: String?

  public init(
    idToken: String, nonce: String? = nil, currentPassword: String? = nil, linkedIdToken: String? = nil,
    linkedNonce: String? = nil
  ) {
    self.idToken = idToken
    self.nonce = nonce
    self.currentPassword = currentPassword
    self.linkedIdToken = linkedIdToken
    self.linkedNonce = linkedNonce
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case idToken
    case nonce
    case currentPassword
    case linkedIdToken
    case linkedNonce
  }
}

/// `GET /v1/admin/users`
public struct UserList: ResponseObject {
  public var users: [Account]

  public init(users: [Account]) {
    self.users = users
  }
}
