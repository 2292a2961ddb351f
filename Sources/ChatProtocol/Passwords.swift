public import ChatPrimitives

/// `PUT /v1/me/password`
public struct ChangePasswordRequest: RequestObject {
  public let currentPassword: String
  public let newPassword: String

  public init(currentPassword: String, newPassword: String) {
    self.currentPassword = currentPassword
    self.newPassword = newPassword
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case currentPassword
    case newPassword
  }
}

/// `POST /v1/admin/users/{userId}/password-reset`: must be delivered to the user in a way that nobody else can read.
public struct PasswordResetToken: ResponseObject {
  public var userId: UserID
  /// Valid for one new password.
  public var token: String
  public var expiresAt: Timestamp

  public init(userId: UserID, token: String, expiresAt: Timestamp) {
    self.userId = userId
    self.token = token
    self.expiresAt = expiresAt
  }
}

/// `POST /v1/password-resets`
public struct ResetPasswordRequest: RequestObject {
  public let token: String
  public let newPassword: String

  public init(token: String, newPassword: String) {
    self.token = token
    self.newPassword = newPassword
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case token
    case newPassword
  }
}
