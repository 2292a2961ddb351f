package import ChatPrimitives

/// What an event created, if it has a path of its own in the API. Every other event changes something that existed before.
package enum CreatedEntity: Sendable, Hashable {
  case user(UserID)
  case session(SessionID)
  case device(DeviceID)
  case media(MediaID)
  /// The user whom the acting user blocked.
  case block(UserID)
  case room(RoomID)
  case invite(InviteID, RoomID)
  case member(UserID, RoomID)
  case ban(UserID, RoomID)
  case message(MessageID, RoomID)
  case scheduledMessage(MessageID, RoomID)
  case reaction(String, MessageID, RoomID)
  case pin(MessageID, RoomID)
  case report(ReportID, RoomID)
  case workspace(WorkspaceID)
  case workspaceInvite(InviteID, WorkspaceID)
  case workspaceMember(UserID, WorkspaceID)
  case invitation(UserID, WorkspaceID)
  case legalHold(LegalHold.Target)
}

extension ChatEvent {
  /// Nil if the event created nothing, or if its payload was erased.
  package var created: CreatedEntity? {
    switch self {
    case .user(let user, let event): event.created(of: user)
    case .room(let room, let event): event.created(in: room)
    case .workspace(let workspace, let event): event.created(in: workspace)
    case .server(let event): event.created
    }
  }
}

extension ServerEvent {
  fileprivate var created: CreatedEntity? {
    switch self {
    case .legalHoldPlaced(let hold): .legalHold(hold.target)
    case .legalHoldLifted, .signingKeyRotated, .pushOutcomesRecorded, .erased: nil
    }
  }
}

extension UserEvent {
  fileprivate func created(of user: UserID) -> CreatedEntity? {
    switch self {
    case .account(.registered): .user(user)
    case .sessions(.started(let session, _)): .session(session)
    case .devices(.registered(let device, _)): .device(device)
    case .media(.uploaded(let media, _, _)): .media(media)
    case .blocks(.blocked(let other)): .block(other)
    case .account, .logins, .sessions, .devices, .blocks, .deletion, .erased: nil
    }
  }
}

extension RoomEvent {
  fileprivate func created(in room: RoomID) -> CreatedEntity? {
    switch self {
    case .lifecycle(.created): .room(room)
    case .sharing(.inviteCreated(let invite)): .invite(invite.id, room)
    case .members(.joined(let user, _, _)), .members(.added(let user, _)): .member(user, room)
    case .members(.banned(let user)): .ban(user, room)
    case .messages(.sent(let message, _, _, _)): .message(message, room)
    case .annotations(.reactionAdded(let message, _, _, let emoji, _)): .reaction(emoji, message, room)
    case .annotations(.pinned(let message, _)): .pin(message, room)
    case .scheduling(.scheduled(let message, _)): .scheduledMessage(message, room)
    case .reports(.filed(let report, _, _)): .report(report, room)
    case .lifecycle, .sharing, .members, .messages, .annotations, .reading, .threads, .scheduling, .reports, .erased:
      nil
    }
  }
}

extension WorkspaceEvent {
  fileprivate func created(in workspace: WorkspaceID) -> CreatedEntity? {
    switch self {
    case .lifecycle(.created): .workspace(workspace)
    case .sharing(.inviteCreated(let invite)): .workspaceInvite(invite.id, workspace)
    case .members(.joined(let user, _, _)): .workspaceMember(user, workspace)
    case .invitations(.invited(let user, _)): .invitation(user, workspace)
    case .lifecycle, .sharing, .members, .invitations, .erased: nil
    }
  }
}
