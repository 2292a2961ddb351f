import ChatDomain

extension Rejection {
  /// The field of the body that a rejection is always about, as a JSON pointer; nil if it can be about several fields or
  /// about none.
  var field: String? { Self.fields[self] }

  private static let fields: [Rejection: String] = [
    .emptyText: "/text", .textTooLong: "/text", .replyElsewhere: "/replyTo",
    .tooManyMentions: "/mentions/users", .tooManyAttachments: "/attachments", .customTypeMalformed: "/type",
    .customBodyTooLong: "/data", .customTypeMissing: "/data",
    .roomNameEmpty: "/name", .roomNameTooLong: "/name", .workspaceNameEmpty: "/name",
    .workspaceNameTooLong: "/name", .topicTooLong: "/topic", .customDataTooLong: "/custom",
    .directMembersOutOfRange: "/memberIds",
    .nicknameEmpty: "/nickname", .nicknameTooLong: "/nickname", .emailMalformed: "/email", .emailInUse: "/email",
    .externalIDMalformed: "/externalId", .externalIDInUse: "/externalId", .languageMalformed: "/language",
    .quietHoursMalformed: "/quietHours", .inviteExpiryOutOfRange: "/expiresAt", .inviteExpiryRequired: "/expiresAt",
    .inviteUsesOutOfRange: "/maxUses", .inviteRoleNotAllowed: "/role", .sendingTimeOutOfRange: "/sendAt",
    .reportCommentTooLong: "/comment", .reportNoteTooLong: "/note", .legalHoldReasonMalformed: "/reason",
    .passwordWrong: "/currentPassword",
  ]
}
