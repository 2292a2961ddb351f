import ChatDomain

extension CreatedEntity {
  /// The path of the entity, for `Location`.
  var path: String {
    switch self {
    case .user(let user): "/v1/users/\(user)"
    case .session(let session): "/v1/sessions/\(session)"
    case .device(let device): "/v1/devices/\(device)"
    case .media(let media): "/v1/media/\(media)"
    case .block(let user): "/v1/me/blocked-users/\(user)"
    case .room(let room): "/v1/rooms/\(room)"
    case .invite(let invite, let room): "/v1/rooms/\(room)/invites/\(invite)"
    case .member(let user, let room): "/v1/rooms/\(room)/members/\(user)"
    case .ban(let user, let room): "/v1/rooms/\(room)/bans/\(user)"
    case .message(let message, let room): "/v1/rooms/\(room)/messages/\(message)"
    case .scheduledMessage(let message, let room): "/v1/rooms/\(room)/scheduled-messages/\(message)"
    case .reaction(let emoji, let message, let room):
      "/v1/rooms/\(room)/messages/\(message)/reactions/" + PercentEncoding.encode(emoji)
    case .pin(let message, let room): "/v1/rooms/\(room)/pins/\(message)"
    case .report(let report, let room): "/v1/rooms/\(room)/reports/\(report)"
    case .workspace(let workspace): "/v1/workspaces/\(workspace)"
    case .workspaceInvite(let invite, let workspace): "/v1/workspaces/\(workspace)/invites/\(invite)"
    case .workspaceMember(let user, let workspace): "/v1/workspaces/\(workspace)/members/\(user)"
    case .invitation(let user, let workspace): "/v1/workspaces/\(workspace)/invitations/\(user)"
    case .legalHold(.user(let user)): "/v1/admin/legal-holds/users/\(user)"
    case .legalHold(.room(let room)): "/v1/admin/legal-holds/rooms/\(room)"
    }
  }
}
