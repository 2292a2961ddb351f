import ChatDomain
import ChatPrimitives
import ChatService
import HTTPTypes

extension Rejection {
  var status: HTTPResponse.Status {
    switch self {
    case .sessionEnded, .credentialsRejected, .refreshTokenExpired, .refreshTokenReused: .unauthorized
    case .forbidden, .serviceOnly: .forbidden
    case .userNotFound, .roomNotFound, .messageNotFound, .inviteNotFound, .sessionNotFound, .deviceNotFound,
      .memberNotFound:
      .notFound
    case .idInUse, .idempotencyKeyReused, .emailInUse, .externalIDInUse, .roomArchived, .messageDeleted,
      .tooManyDevices, .tooManyMembers, .tooManyInvites, .sessionRefreshed:
      .conflict
    case .quotaExceeded: .tooManyRequests
    case .inviteExpired, .inviteUsedUp, .inviteRevoked: .gone
    case .emptyText, .textTooLong, .roomNameEmpty, .roomNameTooLong, .nicknameEmpty, .nicknameTooLong,
      .emailMalformed, .externalIDMalformed, .credentialIncomplete, .deviceTextTooLong, .pushTokenTooLong,
      .inviteExpiryOutOfRange, .inviteUsesOutOfRange, .inviteRoleNotAllowed:
      .unprocessableContent
    }
  }

  /// What was wrong, and what to do next.
  var detail: String {
    switch self {
    case .sessionEnded: "The session has ended. Log in again."
    case .forbidden: "Your role does not allow this."
    case .serviceOnly: "Only a service token may do this."
    case .userNotFound: "There is no such user."
    case .roomNotFound: "There is no such room, or you are not a member of it."
    case .messageNotFound: "The room has no such message."
    case .inviteNotFound: "There is no such invite."
    case .sessionNotFound: "You have no such session."
    case .deviceNotFound: "You have no such device."
    case .memberNotFound: "The room has no such member."
    case .idInUse: "This ID was used before, with other content. Make a new one."
    case .idempotencyKeyReused: "This Idempotency-Key was used before, for something else. Make a new one."
    case .sessionRefreshed:
      "This session was started before and has been refreshed since; use its tokens, or log in with a new session ID."
    case .emailInUse: "Another account has this e-mail address."
    case .externalIDInUse: "Another account has this externalId."
    case .roomArchived: "The room is archived and can only be read."
    case .messageDeleted: "The message was deleted."
    case .inviteExpired: "The invite has expired. Ask for a new one."
    case .inviteUsedUp: "The invite was used as often as it allows. Ask for a new one."
    case .inviteRevoked: "The invite was revoked."
    case .credentialsRejected: "The e-mail address and the password do not belong together."
    case .refreshTokenExpired: "The refresh token is too old. Log in again."
    case .refreshTokenReused: "The refresh token was used after its successor; the session was ended. Log in again."
    case .emptyText: "A message needs a text."
    case .textTooLong: "A text may have \(Limits.messageTextBytes) bytes at most."
    case .roomNameEmpty: "A room needs a name."
    case .roomNameTooLong: "A room's name may have \(Limits.roomNameBytes) bytes at most."
    case .nicknameEmpty: "A user needs a nickname."
    case .nicknameTooLong: "A nickname may have \(Limits.nicknameBytes) bytes at most."
    case .emailMalformed: "The e-mail address must look like name@host, with \(Limits.emailBytes) bytes at most."
    case .externalIDMalformed:
      "An externalId must not be empty, hold control characters, or exceed \(Limits.externalIDBytes) bytes."
    case .credentialIncomplete: "An e-mail address and a password are needed, both or, for a service, neither."
    case .deviceTextTooLong: "A device's texts may have \(Limits.deviceTextBytes) bytes each at most."
    case .pushTokenTooLong: "A push token may have \(Limits.pushTokenBytes) bytes at most."
    case .inviteExpiryOutOfRange: "An invite must expire in the future, and within a year."
    case .inviteUsesOutOfRange: "maxUses must lie between 1 and \(Limits.inviteUses)."
    case .inviteRoleNotAllowed: "An invite cannot give a role above your own, nor that of the owner."
    case .quotaExceeded: "The day's quota is used up. It starts anew at midnight UTC."
    case .tooManyDevices: "A user may have \(Limits.devicesPerUser) devices at most. Remove one."
    case .tooManyMembers: "A room may have \(Limits.membersPerRoom) members at most."
    case .tooManyInvites: "A room may have \(Limits.invitesPerRoom) live invites at most. Revoke one."
    }
  }
}

extension InvalidInput {
  var status: HTTPResponse.Status {
    switch self {
    case .passwordTooShort, .passwordTooLong, .passwordTooCommon: .unprocessableContent
    }
  }

  var detail: String {
    switch self {
    case .passwordTooShort: "A password needs \(Limits.passwordMinimumCharacters) characters at least."
    case .passwordTooCommon: "This password is among the first that are guessed. Choose another."
    case .passwordTooLong: "A password may have \(Limits.passwordBytes) bytes at most."
    }
  }
}
