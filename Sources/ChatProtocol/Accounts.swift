public import ChatPrimitives

/// `POST /v1/accounts`. With a service token, the email address and the password are optional, and `externalId` is
/// allowed. If the operator allows guests, the email address is optional.
public struct CreateAccountRequest: RequestObject {
  /// Chosen by the client, so that a retry is recognized. If it is absent, the server makes one.
  public let id: UserID?
  public let nickname: String
  public let email: String?
  public let password: String?
  /// The user's key in the team's own database.
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

/// `PATCH /v1/me`: changes the profile, or only the email address.
public struct UpdateMeRequest: RequestObject {
  public let nickname: String?
  /// Null removes the picture; if absent, the picture stays.
  public let picture: MediaID??
  /// Any JSON: the app's own data, which replaces what was stored. Null removes it; if absent, it stays.
  public let custom: CanonicalJSON?
  public let email: String?
  /// Allowed only together with `email`.
  public let currentPassword: String?

  public init(
    nickname: String? = nil, picture: MediaID?? = nil, custom: CanonicalJSON? = nil, email: String? = nil,
    currentPassword: String? = nil
  ) {
    self.nickname = nickname
    self.picture = picture
    self.custom = custom
    self.email = email
    self.currentPassword = currentPassword
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case nickname
    case picture
    case custom
    case email
    case currentPassword
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    nickname = try container.decodeIfPresent(String.self, forKey: .nickname)
    picture =
      container.contains(.picture) ? .some(try container.decodeIfPresent(MediaID.self, forKey: .picture)) : .none
    custom =
      container.contains(.custom) ? try container.decodeIfPresent(CanonicalJSON.self, forKey: .custom) ?? .null : nil
    email = try container.decodeIfPresent(String.self, forKey: .email)
    currentPassword = try container.decodeIfPresent(String.self, forKey: .currentPassword)
  }
}

/// A user as lists and pages show them: the part of the public profile that they need.
public struct User: Codable, Sendable, Hashable {
  public var id: UserID
  /// Empty if the account was deleted.
  public var nickname: String
  @Nullable public var picture: MediaID?
  /// True if the account was deleted; otherwise absent.
  public var isDeleted: Bool?

  public init(id: UserID, nickname: String, picture: MediaID?) {
    self.id = id
    self.nickname = nickname
    self.picture = picture
    isDeleted = nickname.isEmpty ? true : nil
  }
}

/// `GET /v1/users/{userId}`: what everyone who is logged in can see of a user. Never a device, a token or an email
/// address.
public struct PublicProfile: ResponseObject {
  public var id: UserID
  /// Empty if the account was deleted.
  public var nickname: String
  @Nullable public var picture: MediaID?
  /// Whether the account has only a password.
  public var isGuest: Bool
  /// The app's own data, any JSON; absent if there is none.
  public var custom: CanonicalJSON?
  /// True if the account was deleted; otherwise absent.
  public var isDeleted: Bool?

  public init(id: UserID, nickname: String, picture: MediaID?, isGuest: Bool, custom: CanonicalJSON?) {
    self.id = id
    self.nickname = nickname
    self.picture = picture
    self.isGuest = isGuest
    self.custom = custom
    isDeleted = nickname.isEmpty ? true : nil
  }
}

/// `GET /v1/users`: with `ids`, in the order of the request, without the IDs that belong to no user; otherwise the users
/// who were found, ordered by nickname.
public struct PublicProfileList: ListObject {
  public var users: [PublicProfile]
  /// True if more nicknames begin with the text, or may do; otherwise absent.
  public var hasMore: Bool?

  public init(users: [PublicProfile], hasMore: Bool = false) {
    self.users = users
    self.hasMore = hasMore ? true : nil
  }
}

/// What users see of their own account, and administrators of any account.
public struct Account: ResponseObject {
  public var id: UserID
  public var nickname: String
  @Nullable public var picture: MediaID?
  @Nullable public var email: String?
  @Nullable public var externalId: String?
  public var hasPassword: Bool
  /// Whether the account has only a password: no email address, no externalId, no external login.
  public var isGuest: Bool
  /// The external logins, in the order in which they were linked.
  public var identities: [LinkedIdentity]
  /// The app's own data, any JSON; absent if there is none.
  public var custom: CanonicalJSON?
  /// When the account was disabled; null if it is not.
  @Nullable public var disabledAt: Timestamp?
  /// In the response to a write, the position of that write; in a read, that of the registration.
  public var position: LogPosition
  /// Where the profile or the email address was last changed. `If-Match` uses it.
  public var revision: LogPosition

  public init(
    id: UserID, nickname: String, picture: MediaID?, email: String?, externalId: String?, hasPassword: Bool,
    isGuest: Bool, identities: [LinkedIdentity], custom: CanonicalJSON?, disabledAt: Timestamp?,
    position: LogPosition, revision: LogPosition
  ) {
    self.id = id
    self.nickname = nickname
    self.picture = picture
    self.email = email
    self.externalId = externalId
    self.hasPassword = hasPassword
    self.isGuest = isGuest
    self.identities = identities
    self.custom = custom
    self.disabledAt = disabledAt
    self.position = position
    self.revision = revision
  }
}

/// An external login, identified by the claims `iss` and `sub` of its ID tokens.
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
  /// Required if the account has a password, unless a service makes the request.
  public let currentPassword: String?
  /// Required if the account has no password, unless a service makes the request: an ID token of a login that is
  /// already linked.
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
public struct UserList: ListObject {
  public var users: [Account]

  public init(users: [Account]) {
    self.users = users
  }
}
