import ChatDomain
import ChatPrimitives
import ChatService
import HTTPTypes

extension Rejection {
  var status: HTTPResponse.Status {
    switch self {
    case .sessionEnded, .credentialsRejected, .refreshTokenExpired, .refreshTokenReused: .unauthorized
    case .forbidden, .serviceOnly, .banned, .memberSilenced, .workspaceMembersOnly,
      .accountDisabled, .guestNotAllowed, .passwordWrong, .linkedLoginRequired, .directMessagesRefused,
      .additionRefused:
      .forbidden
    case .userNotFound, .roomNotFound, .messageNotFound, .inviteNotFound, .sessionNotFound, .deviceNotFound,
      .memberNotFound, .workspaceNotFound, .invitationNotFound, .banNotFound, .mediaNotFound, .scheduledMessageNotFound,
      .identityNotFound, .blockNotFound, .reportNotFound, .legalHoldNotFound:
      .notFound
    case .idInUse, .idempotencyKeyReused, .emailInUse, .externalIDInUse, .roomArchived, .messageDeleted,
      .tooManyDevices, .tooManyMembers, .tooManyInvites, .sessionRefreshed, .directRoomFixed, .directRoomOnly,
      .ownerMustTransfer,
      .tooManyBans, .tooManyPins, .tooManyChannels, .tooManyDirectRooms, .tooManyWorkspaceMembers, .tooManyInvitations,
      .identityInUse,
      .tooManyIdentities, .lastLogin, .invitesExhausted, .tooManyReactions, .passwordMissing, .scheduledMessageSettled,
      .tooManyScheduledMessages, .tooManyBlockedUsers, .tooManyReports, .tooManyLegalHolds, .alreadyErased:
      .conflict
    case .revisionMismatch: .preconditionFailed
    case .quotaExceeded: .tooManyRequests
    case .inviteExpired, .inviteUsedUp, .inviteRevoked, .passwordResetUsed: .gone
    case .emptyText, .textTooLong, .roomNameEmpty, .roomNameTooLong, .nicknameEmpty, .nicknameTooLong,
      .emailMalformed, .externalIDMalformed, .credentialIncomplete, .deviceTextTooLong, .pushTokenEmpty,
      .pushTokenTooLong, .pushTokenMalformed, .languageMalformed, .quietHoursMalformed,
      .mediaNameMalformed, .nameMalformed, .inviteExpiryOutOfRange, .inviteExpiryRequired, .inviteUsesOutOfRange,
      .inviteRoleNotAllowed, .roleNotAllowed, .topicTooLong, .customDataTooLong,
      .workspaceNameEmpty, .workspaceNameTooLong, .directMembersOutOfRange, .notAThreadRoot, .replyElsewhere,
      .attachmentNameTooLong, .customTypeMalformed, .customBodyTooLong, .customTypeMissing, .emojiMalformed,
      .tooManyMentions, .tooManyAttachments, .sendingTimeOutOfRange, .cannotBlockSelf, .reportCommentTooLong,
      .reportNoteTooLong, .legalHoldReasonMalformed:
      .unprocessableContent
    }
  }

  /// What was wrong, and what to do next.
  var detail: String {
    switch self {
    case .sessionEnded: "The session has ended. Log in again."
    case .forbidden: "Your role does not allow this."
    case .serviceOnly: "Only a service token can do this."
    case .userNotFound: "The user does not exist."
    case .roomNotFound: "The room does not exist, or you are not a member."
    case .messageNotFound: "The message does not exist in this room."
    case .inviteNotFound: "The invite does not exist."
    case .sessionNotFound: "You have no session with this ID."
    case .deviceNotFound: "You have no device with this ID."
    case .memberNotFound: "The user is not a member."
    case .scheduledMessageNotFound: "You have no scheduled message with this ID in this room."
    case .reportNotFound: "The report does not exist in this room, or you cannot see it."
    case .workspaceNotFound: "The workspace does not exist, or you are not a member."
    case .invitationNotFound: "The invitation does not exist."
    case .banNotFound: "The user is not banned from this room."
    case .blockNotFound: "You have not blocked this user."
    case .legalHoldNotFound: "There is no legal hold on this user or room."
    case .banned: "The user is banned from this room."
    case .memberSilenced: "You cannot write in this room until the time in its silencedUntil."
    case .directMessagesRefused: "You cannot exchange direct messages with this user."
    case .additionRefused: "You cannot add this user. Send an invite instead."
    case .workspaceMembersOnly: "Only members of the workspace can join its channels."
    case .mediaNotFound: "The file does not exist, or you cannot see it. If it is yours, upload it again."
    case .accountDisabled: "The account is disabled. Ask the operator of this server."
    case .guestNotAllowed: "Guests cannot do this. Add an email address to the account, or link a login."
    case .idInUse: "This ID is already used with different content. Choose a new one."
    case .idempotencyKeyReused: "This Idempotency-Key was already used for a different request. Use a new one."
    case .revisionMismatch:
      "The resource has changed since the revision in If-Match. Get it again before you change it."
    case .sessionRefreshed:
      "This session already exists and its tokens were refreshed. Use its tokens, or log in with a new session ID."
    case .emailInUse: "Another account has this email address."
    case .externalIDInUse: "Another account has this externalId."
    case .identityNotFound: "This external login is not linked to the account."
    case .linkedLoginRequired:
      """
      Send an ID token of a login that is already linked to the account: as linkedIdToken to link another login, or as \
      idToken to delete the account.
      """
    case .lastLogin:
      "This is the account's only way to log in. First link another login, or set a password with a password reset."
    case .identityInUse: "This external login is linked to another account."
    case .roomArchived: "The room is archived and can only be read."
    case .messageDeleted: "The message was deleted."
    case .scheduledMessageSettled: "The message is no longer pending: it was sent or cancelled, or could not be sent."
    case .directRoomFixed: "The members, name, topic and picture of a direct room cannot be changed."
    case .directRoomOnly: "Only direct rooms can be hidden. Leave the room instead."
    case .ownerMustTransfer: "The owner cannot leave or take a lower role. Transfer the ownership first."
    case .alreadyErased: "The erasure of this user is complete, so there is nothing left to hold."
    case .inviteExpired: "The invite has expired. Ask for a new one."
    case .inviteUsedUp: "The invite has no uses left. Ask for a new one."
    case .inviteRevoked: "The invite was revoked."
    case .credentialsRejected: "Incorrect email or password."
    case .refreshTokenExpired: "The refresh token has expired. Log in again."
    case .refreshTokenReused: "The refresh token was already replaced, so the session was ended. Log in again."
    case .emptyText: "A message needs a text, an attachment or a type."
    case .passwordWrong: "The current password is incorrect."
    case .passwordMissing: "The account has no password. First set one with a password reset."
    case .passwordResetUsed: "The password was changed since this token was issued. Ask for a new one."
    case .textTooLong: "A text can have at most \(Limits.messageTextBytes) bytes."
    case .notAThreadRoot:
      "The message is in a thread, so it cannot be the root of another one. Use the root of its thread."
    case .replyElsewhere:
      "In a thread, reply to one of its messages or to its root; in the timeline, to a message of the timeline."
    case .attachmentNameTooLong: "An attachment's name can have at most \(Limits.attachmentNameBytes) bytes."
    case .customTypeMalformed:
      "A type must have 1 to \(Limits.customTypeBytes) bytes and no control characters."
    case .customBodyTooLong: "data can have at most \(Limits.customBodyBytes) bytes of JSON, not counting white space."
    case .customTypeMissing: "The message was sent without a type, so it has no data that can be changed."
    case .emojiMalformed:
      "A reaction must be one character or a name between colons, with at most \(Limits.emojiBytes) bytes."
    case .tooManyMentions: "A message can mention at most \(Limits.mentionsPerMessage) users."
    case .tooManyAttachments: "A message can have at most \(Limits.attachmentsPerMessage) attachments."
    case .tooManyPins: "A room can have at most \(Limits.pinsPerRoom) pins. Remove one."
    case .tooManyReactions:
      """
      A message can have at most \(Limits.reactionKindsPerMessage) different reactions, \
      and one user can add at most \(Limits.reactionKindsPerUserAndMessage). Remove one.
      """
    case .roomNameEmpty: "A room needs a name with a visible character."
    case .roomNameTooLong: "A room's name can have at most \(Limits.roomNameBytes) bytes."
    case .nicknameEmpty: "A user needs a nickname with a visible character."
    case .nicknameTooLong: "A nickname can have at most \(Limits.nicknameBytes) bytes."
    case .emailMalformed: "The email address must have the form name@host and at most \(Limits.emailBytes) bytes."
    case .externalIDMalformed:
      "An externalId must have 1 to \(Limits.externalIDBytes) bytes and no control characters."
    case .credentialIncomplete: "Send both an email address and a password. A service can omit both."
    case .deviceTextTooLong: "A device's texts can have at most \(Limits.deviceTextBytes) bytes each."
    case .pushTokenEmpty: "A push token must not be empty. If there is none, omit it or send null."
    case .pushTokenTooLong: "A push token can have at most \(Limits.pushTokenBytes) bytes."
    case .pushTokenMalformed: "A push token must not contain control characters."
    case .quietHoursMalformed:
      "The fields \"from\" and \"to\" of quietHours must differ, and \"timeZone\" must be an IANA name such as Europe/Berlin."
    case .languageMalformed:
      """
      The field "language" must be a language tag (BCP 47) such as de or pt-BR, with at most \
      \(Limits.languageTagBytes) bytes.
      """
    case .inviteExpiryOutOfRange: "An invite must expire in the future, and within a year."
    case .inviteExpiryRequired:
      "The operator of this server allows only invites that expire. Send a time as expiresAt, or omit it."
    case .inviteUsesOutOfRange: "maxUses must be between 1 and \(Limits.inviteUses)."
    case .inviteRoleNotAllowed: "An invite cannot grant a role above your own, and never owner."
    case .mediaNameMalformed:
      """
      A file's name must have a visible character and at most \(Limits.mediaNameBytes) bytes, and must not contain \
      control characters, bidirectional controls or a slash.
      """
    case .nameMalformed:
      "A name must have a visible character, and must not contain U+0000 or bidirectional controls."
    case .sendingTimeOutOfRange: "sendAt must be in the future, within a year."
    case .tooManyScheduledMessages:
      "You can have at most \(Limits.scheduledMessagesPerUserAndRoom) pending messages in a room. Cancel one, or wait."
    case .reportCommentTooLong: "A report's comment can have at most \(Limits.reportCommentBytes) bytes."
    case .reportNoteTooLong: "The note of a resolution can have at most \(Limits.reportNoteBytes) bytes."
    case .legalHoldReasonMalformed:
      "A legal hold needs a reason with a visible character and at most \(Limits.legalHoldReasonBytes) bytes."
    case .tooManyLegalHolds: "There can be at most \(Limits.legalHolds) legal holds. Lift one."
    case .tooManyReports:
      """
      You can have at most \(Limits.openReportsPerUserAndRoom) open reports in a room, and a room can have at most \
      \(Limits.openReportsPerRoom). Wait until moderators resolve some.
      """
    case .quotaExceeded: "The daily quota is used up. It resets at midnight UTC."
    case .roleNotAllowed:
      "You can give at most your own role. To change the owner, transfer the ownership to another member."
    case .customDataTooLong:
      "custom can have at most \(Limits.customDataBytes) bytes of JSON, not counting white space."
    case .topicTooLong: "A topic can have at most \(Limits.topicBytes) bytes."
    case .workspaceNameEmpty: "A workspace needs a name with a visible character."
    case .workspaceNameTooLong: "A workspace's name can have at most \(Limits.workspaceNameBytes) bytes."
    case .directMembersOutOfRange: "A direct room has 1 to \(Limits.directRoomOthers) members besides you."
    case .cannotBlockSelf: "You cannot block yourself."
    case .tooManyBlockedUsers: "You can block at most \(Limits.blockedUsersPerUser) users. Unblock one."
    case .tooManyBans: "A room can have at most \(Limits.bansPerRoom) bans. Lift one."
    case .tooManyChannels: "A workspace can have at most \(Limits.channelsPerWorkspace) channels. Delete one."
    case .tooManyDirectRooms:
      "One of you has \(Limits.directRoomsPerUserAndWorkspace) direct rooms in this workspace. Use a channel."
    case .tooManyWorkspaceMembers: "A workspace can have at most \(Limits.membersPerWorkspace) members."
    case .tooManyInvitations:
      "A workspace can have at most \(Limits.invitationsPerWorkspace) open invitations. Withdraw one."
    case .tooManyDevices: "A user can have at most \(Limits.devicesPerUser) devices. Remove one."
    case .tooManyMembers: "A room can have at most \(Limits.membersPerRoom) members."
    case .tooManyIdentities: "A user can have at most \(Limits.identitiesPerUser) external logins."
    case .invitesExhausted:
      "The limit of \(Limits.invitesEverPerRoom) invites in total was reached. Share an existing one."
    case .tooManyInvites: "There can be at most \(Limits.invitesPerRoom) valid invites. Revoke one."
    }
  }
}

extension InvalidInput {
  var status: HTTPResponse.Status {
    switch self {
    case .passwordTooShort, .passwordTooLong, .passwordTooCommon: .unprocessableContent
    case .passwordResetInvalid: .unauthorized
    case .passwordResetExpired: .gone
    }
  }

  var detail: String {
    switch self {
    case .passwordTooShort: "A password needs at least \(Limits.passwordMinimumCharacters) characters."
    case .passwordTooCommon: "This password is too common. Choose another."
    case .passwordTooLong: "A password can have at most \(Limits.passwordBytes) bytes."
    case .passwordResetInvalid: "The token is not a valid password reset token."
    case .passwordResetExpired: "The token has expired. Ask for a new one."
    }
  }
}
