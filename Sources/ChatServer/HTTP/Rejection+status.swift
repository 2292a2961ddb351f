import ChatDomain
import ChatPrimitives
import ChatService
import HTTPTypes

extension Rejection {
  var status: HTTPResponse.Status {
    switch self {
    case .sessionEnded, .credentialsRejected, .refreshTokenExpired, .refreshTokenReused: .unauthorized
    case .forbidden, .serviceOnly, .banned, .memberSilenced, .workspaceMembersOnly,
      .accountDisabled, .guestNotAllowed, .passwordWrong, .linkedLoginRequired:
      .forbidden
    case .userNotFound, .roomNotFound, .messageNotFound, .inviteNotFound, .sessionNotFound, .deviceNotFound,
      .memberNotFound, .workspaceNotFound, .invitationNotFound, .banNotFound, .mediaNotFound, .scheduledMessageNotFound,
      .identityNotFound:
      .notFound
    case .idInUse, .idempotencyKeyReused, .emailInUse, .externalIDInUse, .roomArchived, .messageDeleted,
      .tooManyDevices, .tooManyMembers, .tooManyInvites, .sessionRefreshed, .directRoomFixed, .ownerMustTransfer,
      .tooManyBans, .tooManyPins, .tooManyChannels, .tooManyWorkspaceMembers, .tooManyInvitations, .identityInUse,
      .tooManyIdentities, .lastLogin, .invitesExhausted, .tooManyReactions, .passwordMissing, .scheduledMessageSettled,
      .tooManyScheduledMessages:
      .conflict
    case .revisionMismatch: .preconditionFailed
    case .quotaExceeded: .tooManyRequests
    case .inviteExpired, .inviteUsedUp, .inviteRevoked, .passwordResetUsed: .gone
    case .emptyText, .textTooLong, .roomNameEmpty, .roomNameTooLong, .nicknameEmpty, .nicknameTooLong,
      .emailMalformed, .externalIDMalformed, .credentialIncomplete, .deviceTextTooLong, .pushTokenEmpty,
      .pushTokenTooLong, .pushTokenMalformed,
      .mediaNameMalformed, .nameMalformed, .inviteExpiryOutOfRange, .inviteUsesOutOfRange, .inviteRoleNotAllowed,
      .roleNotAllowed, .topicTooLong,
      .workspaceNameEmpty, .workspaceNameTooLong, .directMembersOutOfRange, .notAThreadRoot, .replyElsewhere,
      .attachmentNameTooLong, .customTypeMalformed, .customBodyTooLong, .emojiMalformed, .tooManyMentions,
      .tooManyAttachments, .sendingTimeOutOfRange:
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
    case .memberNotFound: "There is no such member here."
    case .scheduledMessageNotFound: "You have no such scheduled message in this room."
    case .workspaceNotFound: "There is no such workspace, or you are not a member of it."
    case .invitationNotFound: "There is no such invitation."
    case .banNotFound: "The user is not banned here."
    case .banned: "The user is banned from this room."
    case .memberSilenced: "You may not speak in this room for now. silencedUntil of the room says until when."
    case .workspaceMembersOnly: "Only members of the workspace can come into its channels."
    case .mediaNotFound: "There is no such file, or you may not see it. Upload it again."
    case .accountDisabled: "The account is disabled. Ask who runs this server."
    case .guestNotAllowed: "A guest may not do this. Give the account an e-mail address, or link a login."
    case .idInUse: "This ID was used before, with other content. Make a new one."
    case .idempotencyKeyReused: "This Idempotency-Key was used before, for something else. Make a new one."
    case .revisionMismatch: "It was changed since the revision that If-Match names. Get it again, and decide anew."
    case .sessionRefreshed:
      "This session was started before and has been refreshed since; use its tokens, or log in with a new session ID."
    case .emailInUse: "Another account has this e-mail address."
    case .externalIDInUse: "Another account has this externalId."
    case .identityNotFound: "The account has no such login elsewhere."
    case .linkedLoginRequired: "Send linkedIdToken: an ID token of a login that the account has already."
    case .lastLogin: "It is the last way to log in. Link another login, or have a password set, first."
    case .identityInUse: "This login belongs to another account."
    case .roomArchived: "The room is archived and can only be read."
    case .messageDeleted: "The message was deleted."
    case .scheduledMessageSettled: "The message waits no more: it was sent or cancelled, or could not be sent."
    case .directRoomFixed: "The members and the looks of a direct room cannot be changed."
    case .ownerMustTransfer: "An owner cannot go or step down before another has the ownership. Transfer it."
    case .inviteExpired: "The invite has expired. Ask for a new one."
    case .inviteUsedUp: "The invite was used as often as it allows. Ask for a new one."
    case .inviteRevoked: "The invite was revoked."
    case .credentialsRejected: "The e-mail address and the password do not belong together."
    case .refreshTokenExpired: "The refresh token is too old. Log in again."
    case .refreshTokenReused: "The refresh token was used after its successor; the session was ended. Log in again."
    case .emptyText: "A message needs a text, an attachment or a custom part."
    case .passwordWrong: "The current password is wrong."
    case .passwordMissing: "The account has no password, and so no e-mail address to log in by."
    case .passwordResetUsed: "The password was changed since this token was issued. Ask for a new one."
    case .textTooLong: "A text may have \(Limits.messageTextBytes) bytes at most."
    case .notAThreadRoot: "The message is in a thread itself. A thread hangs from a message of the room."
    case .replyElsewhere: "A message answers one of the same thread or its root, or, in the room, one of the room."
    case .attachmentNameTooLong: "An attachment's name may have \(Limits.attachmentNameBytes) bytes at most."
    case .customTypeMalformed:
      "A type must not be empty, hold control characters, or exceed \(Limits.customTypeBytes) bytes."
    case .customBodyTooLong: "Custom data may have \(Limits.customBodyBytes) bytes of JSON without white space at most."
    case .emojiMalformed:
      "A reaction is one character or a name between colons, with \(Limits.emojiBytes) bytes at most."
    case .tooManyMentions: "A message may mention \(Limits.mentionsPerMessage) users at most."
    case .tooManyAttachments: "A message may have \(Limits.attachmentsPerMessage) attachments at most."
    case .tooManyPins: "A room may have \(Limits.pinsPerRoom) pins at most. Take one away."
    case .tooManyReactions:
      """
      A message may have \(Limits.reactionKindsPerMessage) kinds of reactions at most, \
      and \(Limits.reactionKindsPerUserAndMessage) of one user. Take one back.
      """
    case .roomNameEmpty: "A room needs a name with a visible character."
    case .roomNameTooLong: "A room's name may have \(Limits.roomNameBytes) bytes at most."
    case .nicknameEmpty: "A user needs a nickname with a visible character."
    case .nicknameTooLong: "A nickname may have \(Limits.nicknameBytes) bytes at most."
    case .emailMalformed: "The e-mail address must look like name@host, with \(Limits.emailBytes) bytes at most."
    case .externalIDMalformed:
      "An externalId must not be empty, hold control characters, or exceed \(Limits.externalIDBytes) bytes."
    case .credentialIncomplete: "An e-mail address and a password are needed, both or, for a service, neither."
    case .deviceTextTooLong: "A device's texts may have \(Limits.deviceTextBytes) bytes each at most."
    case .pushTokenEmpty: "A push token must not be empty. Leave it out, or send null, where there is none."
    case .pushTokenTooLong: "A push token may have \(Limits.pushTokenBytes) bytes at most."
    case .pushTokenMalformed: "A push token must not contain control characters."
    case .inviteExpiryOutOfRange: "An invite must expire in the future, and within a year."
    case .inviteUsesOutOfRange: "maxUses must lie between 1 and \(Limits.inviteUses)."
    case .inviteRoleNotAllowed: "An invite cannot give a role above your own, nor that of the owner."
    case .mediaNameMalformed:
      """
      A file's name must have a visible character and at most \(Limits.mediaNameBytes) bytes, and must not contain \
      control characters, bidirectional controls or a slash.
      """
    case .nameMalformed:
      "A name must have a visible character, and must not contain U+0000 or bidirectional controls."
    case .sendingTimeOutOfRange: "A message can be scheduled for a time in the future, within a year."
    case .tooManyScheduledMessages:
      "\(Limits.scheduledMessagesPerUserAndRoom) messages may wait in one room at most. Cancel one, or wait."
    case .quotaExceeded: "The day's quota is used up. It starts anew at midnight UTC."
    case .roleNotAllowed: "You can give a role up to your own. Ownership passes by a transfer, to another member."
    case .topicTooLong: "A topic may have \(Limits.topicBytes) bytes at most."
    case .workspaceNameEmpty: "A workspace needs a name with a visible character."
    case .workspaceNameTooLong: "A workspace's name may have \(Limits.workspaceNameBytes) bytes at most."
    case .directMembersOutOfRange: "A direct room has 1 to \(Limits.directRoomOthers) members beside you."
    case .tooManyBans: "A room may have \(Limits.bansPerRoom) bans at most. Lift one."
    case .tooManyChannels: "A workspace may have \(Limits.channelsPerWorkspace) channels at most. Delete one."
    case .tooManyWorkspaceMembers: "A workspace may have \(Limits.membersPerWorkspace) members at most."
    case .tooManyInvitations:
      "A workspace may have \(Limits.invitationsPerWorkspace) open invitations at most. Withdraw one."
    case .tooManyDevices: "A user may have \(Limits.devicesPerUser) devices at most. Remove one."
    case .tooManyMembers: "A room may have \(Limits.membersPerRoom) members at most."
    case .tooManyIdentities: "A user may have \(Limits.identitiesPerUser) logins elsewhere at most."
    case .invitesExhausted: "\(Limits.invitesEverPerRoom) invites were made here, and no more can be. Share a live one."
    case .tooManyInvites: "There may be \(Limits.invitesPerRoom) live invites at most. Revoke one."
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
    case .passwordTooShort: "A password needs \(Limits.passwordMinimumCharacters) characters at least."
    case .passwordTooCommon: "This password is among the first that are guessed. Choose another."
    case .passwordTooLong: "A password may have \(Limits.passwordBytes) bytes at most."
    case .passwordResetInvalid: "The token is not one that this server issued to reset a password."
    case .passwordResetExpired: "The token has expired. Ask for a new one."
    }
  }
}
