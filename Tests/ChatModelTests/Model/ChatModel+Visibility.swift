import ChatDomain
import ChatPrimitives

/// What users can see, by the rules of rooms and workspaces.
extension ChatModel {
  /// What a user can see of a room.
  enum Visibility: Equatable {
    case member
    /// The user can find the room, which is a public channel, and join it, but sees no messages.
    case finder
    case none
  }

  func visibility(of room: ModelRoom, to user: UserID) -> Visibility {
    guard room.exists else { return .none }
    if room.member(user) != nil { return .member }
    guard room.isPublic, let role = workspaceRole(of: user, over: room), role > .guest else { return .none }
    return .finder
  }

  /// Whether the user has the rights of the room's administrators; nil for a user who is not in the room and does not
  /// oversee it.
  func administers(_ room: ModelRoom, _ user: UserID) -> Bool? {
    if visibility(of: room, to: user) == .none { return nil }
    let own = room.member(user)?.role
    if let own, own >= .administrator { return true }
    if room.isPublic, let role = workspaceRole(of: user, over: room), role >= .administrator { return true }
    return own == nil ? nil : false
  }

  /// Whether the user sees the room's reports; nil for a user who is neither in the room nor an administrator of its
  /// workspace.
  func moderates(_ room: ModelRoom, _ user: UserID) -> Bool? {
    guard room.exists else { return nil }
    if let role = workspaceRole(of: user, over: room), role >= .administrator { return true }
    return room.member(user).map { $0.role >= .administrator }
  }

  /// The role that a link gives now: no more than its creator has. A creator who is gone can only make members.
  func given(by invite: ModelInvite<Role>, in room: ModelRoom) -> Role {
    guard let maker = invite.creator else { return invite.link.role }
    return administers(room, maker) == true ? invite.link.role : .member
  }

  private func workspaceRole(of user: UserID, over room: ModelRoom) -> WorkspaceRole? {
    guard let id = room.creation?.workspace, let workspace = workspaces[id], workspace.exists else { return nil }
    return workspace.member(user)?.role
  }

  /// The workspaces that a user is in, in the order in which the user joined them.
  func workspaces(of user: UserID) -> [ModelWorkspace] {
    func joined(_ workspace: ModelWorkspace) -> LogPosition { workspace.member(user)?.joined.position ?? .origin }
    return workspaces.values.filter { $0.exists && $0.member(user) != nil }.sorted { joined($0) < joined($1) }
  }

  /// The existing channels of a workspace, in the order of their creation.
  func channels(of workspace: WorkspaceID) -> [ModelRoom] {
    rooms.values.filter { $0.exists && $0.creation?.workspace == workspace }
      .sorted { ($0.created?.position ?? .origin) < ($1.created?.position ?? .origin) }
  }

  /// The open invitations of a user, the newest first.
  func invitations(of user: UserID) -> [(WorkspaceID, ModelInvitation)] {
    workspaces.values.filter { $0.exists }.compactMap { workspace in
      workspace.invitation(user).map { (workspace.id, $0) }
    }.sorted { $0.1.stamp.position > $1.1.stamp.position }
  }

  // MARK: - Invariants after every command

  /// The invariant that is violated now, if any.
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
    if let loggedOutDeviceWithTokens { return loggedOutDeviceWithTokens }
    if let token = sharedToken { return "two devices have the push token \(token.token)" }
    for room in rooms.values where room.exists {
      if let deleted = room.creation?.workspace, workspaces[deleted]?.exists != true {
        return "channel r\(room.id.short) has outlived its workspace"
      }
    }
    return nil
  }

  /// A push token that several devices have. A token must belong to only one.
  private var sharedToken: PushToken? {
    var seen: Set<PushToken> = []
    let all = users.values.flatMap { $0.devices.flatMap(\.description.tokens) }
    return all.first { !seen.insert($0).inserted }
  }
}

// MARK: - Media

extension ChatModel {
  /// The uploads that a user may see, in the order of their upload.
  func media(seenBy user: UserID) -> [ModelMedia] {
    let shown = mediaShown(to: user)
    return users.values.flatMap(\.media).filter { $0.uploader == user || shown.contains($0.id) }
      .sorted { $0.uploaded.position < $1.uploaded.position }
  }

  /// The files that messages and pictures show to a user, and those in the user's own scheduled messages.
  private func mediaShown(to user: UserID) -> Set<MediaID> {
    var shown = Set(users.values.compactMap { $0.profile?.picture })
    for room in rooms.values where visibility(of: room, to: user) != .none {
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
