import ChatDomain
import ChatPrimitives

/// What the actor needs for a command and also for a repeat of it. A repeat is rejected like any other request if the
/// actor has lost it. All other changes since the command (targets that are gone, archived rooms, used-up invites,
/// quotas) must not affect a repeat.
enum Right: Sendable {
  /// The account is not disabled.
  case account
  /// The session is open.
  case session(SessionID)
  /// The token pair of the login is still the newest of the session.
  case firstPair(SessionID)
  /// The email address in the request is the account's.
  case address(String)
  /// The account's password has this version, which the command used or set; `else` is the rejection if it does not.
  case password(version: UInt32, else: String)
  /// The device has the token.
  case token(PushToken, of: DeviceID)

  /// The room exists.
  case room(RoomID, else: String = "room_not_found")
  /// The user can see that the room exists.
  case visibility(RoomID)
  /// The user is not banned from the room.
  case admission(RoomID)
  case member(RoomID)
  /// The user is a member who is not silenced, and no direct-message rule of the room refuses the message.
  case voice(RoomID)
  case administrator(RoomID)
  /// The user is a member, or oversees the room because of a role in the workspace.
  case oversight(RoomID)
  /// The user may pin: in a channel an administrator, in other rooms any member.
  case pins(RoomID)
  /// The user is the author and a member, or an administrator.
  case deletion(MessageID, RoomID)
  /// The user is the author of the scheduled message, in the room or not. Others must be members to learn that it is
  /// not theirs.
  case cancelling(MessageID, RoomID)
  /// The message waits for its time.
  case waiting(MessageID, RoomID)
  /// The user moderates the room, and the report is not about the user.
  case report(ReportID, RoomID)

  /// The workspace exists.
  case workspace(WorkspaceID, else: String = "workspace_not_found")
  case workspaceRole(WorkspaceID, WorkspaceRole)
}

extension Right {
  /// The rights that a command on a room requires of a user.
  static func of(_ command: RoomCommand, in room: RoomID, by user: UserID) -> [Right] {
    switch command {
    case .lifecycle(.create): [.room(room)]
    case .sharing(.acceptInvite): [.room(room, else: "invite_not_found"), .admission(room)]
    case .members(.join): [.visibility(room), .admission(room)]
    // A user who has left or deleted the room no longer has a part in it, but a repeat still succeeds.
    case .members(.leave), .lifecycle(.delete): []
    // A repeat still succeeds for a user who has lowered their own role.
    case .members(.changeRole(user, _)): [.oversight(room)]
    case .lifecycle(.edit), .lifecycle(.archive), .lifecycle(.restore), .sharing(.createInvite),
      .sharing(.revokeInvite),
      .members(.add), .members(.remove), .members(.changeRole), .members(.ban), .members(.unban), .members(.silence):
      [.administrator(room)]
    // A repeat still succeeds for a user who has transferred the ownership.
    case .members(.transfer): [.member(room)]
    case .members(.mute), .members(.setNotifications), .members(.setHidden), .reading, .threads, .annotations(.unreact),
      .scheduling(.change):
      [.member(room)]
    case .scheduling(.cancel(let message)): [.cancelling(message, room)]
    case .messages(.send), .scheduling(.schedule), .annotations(.react), .messages(.edit): [.voice(room)]
    case .messages(.delete(let message)): [.deletion(message, room)]
    case .annotations(.pin), .annotations(.unpin): [.pins(room), .voice(room)]
    case .scheduling(.send(let message, _, _)): [.waiting(message, room)]
    case .reports(.file): [.member(room)]
    case .reports(.resolve(let report, _)), .reports(.reopen(let report)): [.report(report, room)]
    // Only the server sends these, after an account was deleted.
    case .erasing: []
    }
  }

  /// The rights that a command on a workspace requires of a user.
  static func of(_ command: WorkspaceCommand, in workspace: WorkspaceID, by user: UserID) -> [Right] {
    switch command {
    case .lifecycle(.create), .members(.join): [.workspace(workspace)]
    case .sharing(.acceptInvite): [.workspace(workspace, else: "invite_not_found")]
    case .invitations(.accept), .invitations(.withdraw(user)):
      [.workspace(workspace, else: "invitation_not_found")]
    case .members(.leave), .lifecycle(.delete): []
    case .members(.transfer), .members(.changeRole(user, _)): [.workspaceRole(workspace, .guest)]
    case .lifecycle(.edit), .sharing(.createInvite), .sharing(.revokeInvite), .invitations(.invite), .members(.remove),
      .members(.changeRole), .invitations(.withdraw):
      [.workspaceRole(workspace, .administrator)]
    }
  }
}

// MARK: - Lost rights

extension ChatModel {
  /// The rejections that a repeat may get in the current state at `time`. If it is empty, the repeat must succeed,
  /// otherwise it must be rejected.
  func refusals(of step: Step, at time: Timestamp) -> Set<String> {
    Set(step.rights.compactMap { lack(of: $0, step.user, at: time) }.joined())
  }

  /// Nil if the user has the right.
  private func lack(of right: Right, _ user: UserID?, at time: Timestamp) -> [String]? {
    let account = user.flatMap { users[$0] }
    switch right {
    case .account: return account?.disabled == nil ? nil : ["account_disabled"]
    case .session(let id):
      guard let end = account?.session(id)?.end else { return nil }
      return end == .refreshTokenReused ? ["session_ended", "refresh_token_reused"] : ["session_ended"]
    case .firstPair(let id): return account?.session(id)?.generation == 1 ? nil : ["session_refreshed"]
    case .address(let email): return account?.email == email.lowercased() ? nil : ["credentials_rejected"]
    case .password(let version, let refusal): return account?.credential?.version == version ? nil : [refusal]
    case .token(let token, let device):
      return account?.device(device)?.description.tokens.contains(token) == true ? nil : ["device_not_found"]
    case .room(let id, let refusal): return rooms[id]?.exists == true ? nil : [refusal]
    case .admission(let id):
      guard let room = rooms[id], let user, room.exists else { return nil }
      return room.isBanned(user) ? ["banned"] : nil
    case .workspace(let id, let refusal): return workspaces[id]?.exists == true ? nil : [refusal]
    case .workspaceRole(let id, let least):
      guard let workspace = workspaces[id], workspace.exists, let member = user.flatMap(workspace.member) else {
        return ["workspace_not_found"]
      }
      return member.role >= least ? nil : ["forbidden"]
    case .visibility(let room), .member(let room), .voice(let room), .administrator(let room), .oversight(let room),
      .pins(let room), .deletion(_, let room), .cancelling(_, let room), .waiting(_, let room), .report(_, let room):
      guard let place = rooms[room], let user, place.exists else { return ["room_not_found"] }
      return lack(of: right, user, in: place, at: time)
    }
  }

  private func lack(of right: Right, _ user: UserID, in room: ModelRoom, at time: Timestamp) -> [String]? {
    let member = room.member(user)
    func administrator() -> [String]? {
      guard let administers = administers(room, user) else { return ["room_not_found"] }
      return administers ? nil : ["forbidden"]
    }
    switch right {
    case .visibility: return visibility(of: room, to: user) == .none ? ["room_not_found"] : nil
    case .member: return member == nil ? ["room_not_found"] : nil
    case .voice:
      guard let member else { return ["room_not_found"] }
      if member.silencedUntil.map({ $0 > time }) == true { return ["member_silenced"] }
      return refusesDirectMessages(room) ? ["direct_messages_refused"] : nil
    case .administrator: return administrator()
    case .oversight: return administers(room, user) == nil ? ["room_not_found"] : nil
    case .pins: return room.kind == .channel ? administrator() : member == nil ? ["room_not_found"] : nil
    case .deletion(let message, _):
      guard member != nil else { return ["room_not_found"] }
      return room.message(message)?.author == user ? nil : administrator()
    case .cancelling(let message, _):
      let isAuthor = room.schedulings.contains { $0.id == message && $0.author == user }
      return isAuthor || member != nil ? nil : ["room_not_found"]
    case .waiting(let message, _):
      return room.scheduled.contains { $0.id == message && $0.failure == nil } ? nil : ["scheduled_message_not_found"]
    case .report(let report, _):
      guard let moderates = moderates(room, user) else { return ["room_not_found"] }
      guard moderates else { return ["forbidden"] }
      return room.reports.contains { $0.id == report && $0.report.subject.user == user } ? ["report_not_found"] : nil
    case .account, .session, .firstPair, .address, .password, .token, .room, .admission, .workspace, .workspaceRole:
      return nil
    }
  }
}
