/// A business no. Each has a stable code (see `docs/errors.md`); none is a failure of the machine.
package enum Rejection: String, Error, Sendable, CaseIterable {
  // MARK: Who may
  case sessionEnded = "session_ended"
  case forbidden = "forbidden"
  case serviceOnly = "service_only"
  case userNotFound = "user_not_found"
  case roomNotFound = "room_not_found"
  case messageNotFound = "message_not_found"
  case inviteNotFound = "invite_not_found"
  case sessionNotFound = "session_not_found"
  case deviceNotFound = "device_not_found"
  case memberNotFound = "member_not_found"

  // MARK: What clashes
  case idInUse = "id_in_use"
  case idempotencyKeyReused = "idempotency_key_reused"
  case sessionRefreshed = "session_refreshed"
  case emailInUse = "email_in_use"
  case externalIDInUse = "external_id_in_use"
  case roomArchived = "room_archived"
  case messageDeleted = "message_deleted"
  case inviteExpired = "invite_expired"
  case inviteUsedUp = "invite_used_up"
  case inviteRevoked = "invite_revoked"

  // MARK: Credentials
  case credentialsRejected = "credentials_rejected"
  case refreshTokenExpired = "refresh_token_expired"
  case refreshTokenReused = "refresh_token_reused"

  // MARK: What has the wrong form
  case emptyText = "empty_text"
  case textTooLong = "text_too_long"
  case roomNameEmpty = "room_name_empty"
  case roomNameTooLong = "room_name_too_long"
  case nicknameEmpty = "nickname_empty"
  case nicknameTooLong = "nickname_too_long"
  case emailMalformed = "email_malformed"
  case externalIDMalformed = "external_id_malformed"
  case credentialIncomplete = "credential_incomplete"
  case deviceTextTooLong = "device_text_too_long"
  case pushTokenTooLong = "push_token_too_long"
  case inviteExpiryOutOfRange = "invite_expiry_out_of_range"
  case inviteUsesOutOfRange = "invite_uses_out_of_range"
  case inviteRoleNotAllowed = "invite_role_not_allowed"

  // MARK: What is too many
  case tooManyDevices = "too_many_devices"
  case tooManyMembers = "too_many_members"
  case tooManyInvites = "too_many_invites"
  case quotaExceeded = "quota_exceeded"
}
