import ChatDomain
import ChatPrimitives

/// Who sees what, by the rules of rooms and workspaces.
extension ChatModel {
  /// How a user stands to a room.
  enum Sight: Equatable {
    case member
    /// May find a public channel and come in, and sees nothing of what is said.
    case finder
    case none
  }

  func sight(of user: UserID, on room: ModelRoom) -> Sight {
    guard room.exists else { return .none }
    if room.member(user) != nil { return .member }
    guard room.isPublic, let role = workspaceRole(of: user, over: room), role > .guest else { return .none }
    return .finder
  }

  /// Whether the user may do what the room's administrators do; nil for who is neither in the room nor over it.
  func administers(_ room: ModelRoom, _ user: UserID) -> Bool? {
    if sight(of: user, on: room) == .none { return nil }
    let own = room.member(user)?.role
    if let own, own >= .administrator { return true }
    if room.isPublic, let role = workspaceRole(of: user, over: room), role >= .administrator { return true }
    return own == nil ? nil : false
  }

  /// The role that a link gives by now: no more than its maker has; who is gone makes members.
  func given(by invite: ModelInvite<Role>, in room: ModelRoom) -> Role {
    guard let maker = invite.creator else { return invite.link.role }
    return administers(room, maker) == true ? invite.link.role : .member
  }

  private func workspaceRole(of user: UserID, over room: ModelRoom) -> WorkspaceRole? {
    guard let id = room.creation?.workspace, let workspace = workspaces[id], workspace.exists else { return nil }
    return workspace.member(user)?.role
  }

  /// The workspaces that a user is in, in the order in which the user came in.
  func workspaces(of user: UserID) -> [ModelWorkspace] {
    func joined(_ workspace: ModelWorkspace) -> LogPosition { workspace.member(user)?.joined.position ?? .origin }
    return workspaces.values.filter { $0.exists && $0.member(user) != nil }.sorted { joined($0) < joined($1) }
  }

  /// The channels of a workspace that are there, in the order in which they were made.
  func channels(of workspace: WorkspaceID) -> [ModelRoom] {
    rooms.values.filter { $0.exists && $0.creation?.workspace == workspace }
      .sorted { ($0.created?.position ?? .origin) < ($1.created?.position ?? .origin) }
  }

  /// Invitations of a user that are not answered, the newest first.
  func invitations(of user: UserID) -> [(WorkspaceID, ModelInvitation)] {
    workspaces.values.filter { $0.exists }.compactMap { workspace in
      workspace.invitation(user).map { (workspace.id, $0) }
    }.sorted { $0.1.stamp.position > $1.1.stamp.position }
  }

  // MARK: - What holds after every command

  /// The rule that the world as it stands breaks, if any.
  var brokenRule: String? {
    for room in rooms.values where room.exists && room.hasHadOwner {
      if !room.members.isEmpty, !room.members.contains(where: { $0.role == .owner }) {
        return "room r\(room.id.short) has members and no owner"
      }
    }
    for workspace in workspaces.values where workspace.exists {
      if !workspace.members.contains(where: { $0.role == .owner }) {
        return "workspace w\(workspace.id.short) has no owner"
      }
      for channel in channels(of: workspace.id) {
        for member in channel.members where workspace.member(member.user) == nil {
          return "u\(member.user.short) is in channel r\(channel.id.short) and not in its workspace"
        }
      }
    }
    if let talkingDevice { return talkingDevice }
    if let token = sharedToken { return "two devices have the push token \(token.token)" }
    for room in rooms.values where room.exists {
      if let deleted = room.creation?.workspace, workspaces[deleted]?.exists != true {
        return "channel r\(room.id.short) has outlived its workspace"
      }
    }
    return nil
  }

  /// A push token belongs to one device.
  private var sharedToken: PushToken? {
    var seen: Set<PushToken> = []
    let all = users.values.flatMap { $0.devices.flatMap(\.description.tokens) }
    return all.first { !seen.insert($0).inserted }
  }
}

// MARK: - Media

extension ChatModel {
  /// What a user may see of what was uploaded, in the order in which it was.
  func media(seenBy user: UserID) -> [ModelMedia] {
    let shown = mediaShown(to: user)
    return users.values.flatMap(\.media).filter { $0.uploader == user || shown.contains($0.id) }
      .sorted { $0.uploaded.position < $1.uploaded.position }
  }

  /// What messages and pictures show to a user, and what the user has attached to a message that waits.
  private func mediaShown(to user: UserID) -> Set<MediaID> {
    var shown = Set(users.values.compactMap { $0.profile?.picture })
    for room in rooms.values where sight(of: user, on: room) != .none {
      if let picture = room.picture { shown.insert(picture) }
      guard room.member(user) != nil else { continue }
      for message in room.messages { shown.formUnion(message.attachments.map(\.media)) }
    }
    for room in rooms.values where room.exists {
      for waiting in room.scheduled where waiting.message.author == user && waiting.failure == nil {
        shown.formUnion(waiting.message.content.details?.attachments.map(\.media) ?? [])
      }
    }
    for workspace in workspaces(of: user) {
      if let picture = workspace.picture { shown.insert(picture) }
    }
    return shown
  }
}
