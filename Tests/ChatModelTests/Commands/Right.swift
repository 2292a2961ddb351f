import ChatDomain
import ChatPrimitives

/// What a command rests on, and a repeat of it too: who has lost it is refused like with any other request. Everything
/// else that became of the world since (targets that are gone, archived rooms, used-up invites, quotas) must not matter
/// to a repeat.
enum Right: Sendable {
  /// The account takes commands.
  case account
  /// The session is open.
  case session(SessionID)
  /// The pair of tokens that the login gave is the session's newest.
  case firstPair(SessionID)
  /// The e-mail address that was given is the account's.
  case address(String)
  /// The password that the account had then, or got then; and what is said when it has another.
  case password(version: UInt32, else: String)
  /// The device has the token.
  case token(PushToken, of: DeviceID)

  /// The room is there.
  case room(RoomID, else: String = "room_not_found")
  /// The user may find the room.
  case sight(RoomID)
  /// The user is not banned from the room.
  case admission(RoomID)
  case member(RoomID)
  /// A member who is not silenced.
  case voice(RoomID)
  case administrator(RoomID)
  /// A member, or one who tends the room by the workspace's role.
  case reach(RoomID)
  /// Every member's, in a channel its administrators'.
  case pins(RoomID)
  /// The author's, as a member, and the administrators'.
  case deletion(MessageID, RoomID)
  /// The author's of a message that was scheduled, in the room or out of it; of others being a member is asked first.
  case cancelling(MessageID, RoomID)
  /// The message waits for its time.
  case waiting(MessageID, RoomID)

  /// The workspace is there.
  case workspace(WorkspaceID, else: String = "workspace_not_found")
  case workspaceRole(WorkspaceID, WorkspaceRole)
}

extension Right {
  /// What a command on a room takes of a user.
  static func of(_ command: RoomCommand, in room: RoomID, by user: UserID) -> [Right] {
    switch command {
    case .lifecycle(.create): [.room(room)]
    case .sharing(.acceptInvite): [.room(room, else: "invite_not_found"), .admission(room)]
    case .members(.join): [.sight(room), .admission(room)]
    // Who has left or deleted it has no part in it any more, and is answered.
    case .members(.leave), .lifecycle(.delete): []
    // Who has lowered the own role is answered.
    case .members(.changeRole(user, _)): [.reach(room)]
    case .lifecycle(.edit), .lifecycle(.archive), .lifecycle(.restore), .sharing(.createInvite),
      .sharing(.revokeInvite),
      .members(.add), .members(.remove), .members(.changeRole), .members(.ban), .members(.unban), .members(.silence):
      [.administrator(room)]
    // Who has given ownership away is answered.
    case .members(.transfer): [.member(room)]
    case .members(.mute), .reading, .threads, .annotations(.unreact), .scheduling(.change): [.member(room)]
    case .scheduling(.cancel(let message)): [.cancelling(message, room)]
    case .messages(.send), .scheduling(.schedule), .annotations(.react), .messages(.edit): [.voice(room)]
    case .messages(.delete(let message)): [.deletion(message, room)]
    case .annotations(.pin), .annotations(.unpin): [.pins(room), .voice(room)]
    case .scheduling(.send(let message, _, _)): [.waiting(message, room)]
    }
  }

  /// What a command on a workspace takes of a user.
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

// MARK: - Who has lost what

extension ChatModel {
  /// What a repeat may be refused with, as the world is at `time`; it must be answered when this is empty, and refused
  /// when it is not.
  func refusals(of step: Step, at time: Timestamp) -> Set<String> {
    Set(step.rights.compactMap { lack(of: $0, step.user, at: time) }.joined())
  }

  /// Nil when the user has it.
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
    case .sight(let room), .member(let room), .voice(let room), .administrator(let room), .reach(let room),
      .pins(let room), .deletion(_, let room), .cancelling(_, let room), .waiting(_, let room):
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
    case .sight: return sight(of: user, on: room) == .none ? ["room_not_found"] : nil
    case .member: return member == nil ? ["room_not_found"] : nil
    case .voice:
      guard let member else { return ["room_not_found"] }
      return member.silencedUntil.map { $0 > time } == true ? ["member_silenced"] : nil
    case .administrator: return administrator()
    case .reach: return administers(room, user) == nil ? ["room_not_found"] : nil
    case .pins: return room.kind == .channel ? administrator() : member == nil ? ["room_not_found"] : nil
    case .deletion(let message, _):
      guard member != nil else { return ["room_not_found"] }
      return room.message(message)?.author == user ? nil : administrator()
    case .cancelling(let message, _):
      let isAuthor = room.schedulings.contains { $0.id == message && $0.author == user }
      return isAuthor || member != nil ? nil : ["room_not_found"]
    case .waiting(let message, _):
      return room.scheduled.contains { $0.id == message && $0.failure == nil } ? nil : ["scheduled_message_not_found"]
    case .account, .session, .firstPair, .address, .password, .token, .room, .admission, .workspace, .workspaceRole:
      return nil
    }
  }
}
