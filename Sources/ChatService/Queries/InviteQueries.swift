package import ChatDomain
package import ChatPrimitives
package import ChatProjections

extension ChatService {
  /// The newest first. Only for users who may create invites to the room.
  /// - Parameter cursor: the position of the last invite on the page before; nil for the first page.
  package func invites(
    of room: RoomID, for user: UserID, before cursor: LogPosition? = nil, limit: Int = Limits.pageItems
  ) async throws(ServiceError) -> [InviteRow] {
    try await administering(room, user) { try $0.invites(of: room, before: cursor, limit: limit) }
  }

  package func invite(_ invite: InviteID, of room: RoomID) async throws(ServiceError) -> InviteRow {
    guard let row = try await rooms({ try $0.invite(invite, of: room) }) else { throw .rejected(.inviteNotFound) }
    return row
  }

  /// The newest first. Only for the workspace's administrators.
  package func invites(
    of workspace: WorkspaceID, for user: UserID, before cursor: LogPosition? = nil, limit: Int = Limits.pageItems
  ) async throws(ServiceError) -> [WorkspaceInviteRow] {
    try await administering(workspace, user) { try $0.invites(of: workspace, before: cursor, limit: limit) }
  }

  package func invite(
    _ invite: InviteID, of workspace: WorkspaceID
  ) async throws(ServiceError) -> WorkspaceInviteRow {
    guard let row = try await rooms({ try $0.invite(invite, of: workspace) }) else { throw .rejected(.inviteNotFound) }
    return row
  }

  package func token(of invite: InviteID, in room: RoomID) -> String {
    InviteSecrets(keys).token(for: invite, of: room)
  }

  package func token(of invite: InviteID, in workspace: WorkspaceID) -> String {
    InviteSecrets(keys).token(for: invite, of: workspace)
  }

  /// The code that the invite has if it has one.
  package func code(of invite: InviteID, in room: RoomID) -> InviteCode {
    InviteSecrets(keys).code(for: invite, of: room)
  }

  /// The code that the invite has if it has one.
  package func code(of invite: InviteID, in workspace: WorkspaceID) -> InviteCode {
    InviteSecrets(keys).code(for: invite, of: workspace)
  }

  // MARK: Preview

  /// What a user with a token or a code may see before joining.
  package struct Preview: Sendable {
    package enum Space: Sendable {
      case room(RoomRow)
      case workspace(WorkspaceRow)
    }

    package let space: Space
    /// The name of the role that the invite gives now, at most the current role of the user who created it.
    package let role: String
    /// nil if it never expires.
    package let expiresAt: Timestamp?
    /// nil if a service created the invite for itself.
    package let inviter: (id: UserID, profile: Profile)?
  }

  /// Members see the preview even if the invite is no longer valid, because accepting it again succeeds for them too.
  package func preview(of secret: InviteSecret, for user: UserID) async throws(ServiceError) -> Preview {
    let hash = InviteSecrets(keys).hash(of: secret)
    let now = now()
    let found: Result<Preview, Rejection> = try await rooms { rooms in
      do {
        if let invite = try rooms.invite(hash: hash), let room = try rooms.room(invite.space) {
          if try rooms.isBanned(user, from: room.id) { throw Rejection.banned }
          if try rooms.member(user, of: room.id) == nil {
            if let refusal = invite.refusal(at: now) { throw refusal }
            if room.archived != nil { throw Rejection.roomArchived }
          }
          let given = try invite.creator.map { creator throws in
            try min(invite.invite.role, rooms.administers(room.id, creator) == true ? .administrator : .member)
          }
          return .success(try Self.preview(of: .room(room), invite, (given ?? invite.invite.role).name, rooms))
        }
        if let invite = try rooms.workspaceInvite(hash: hash),
          let workspace = try rooms.workspace(invite.space)
        {
          if let refusal = invite.refusal(at: now), try rooms.member(user, of: workspace.id) == nil { throw refusal }
          let given = try invite.creator.map { creator throws in
            try min(invite.invite.role, rooms.member(creator, of: workspace.id)?.role ?? .member)
          }
          return .success(
            try Self.preview(of: .workspace(workspace), invite, (given ?? invite.invite.role).name, rooms))
        }
        throw Rejection.inviteNotFound
      } catch let rejection as Rejection {
        return .failure(rejection)
      }
    }
    return try Self.settled(found)
  }

  private static func preview<Owner, GivenRole>(
    of space: Preview.Space, _ invite: InviteLinkRow<Owner, GivenRole>, _ role: String, _ rooms: RoomsQueries
  ) throws -> Preview {
    let inviter = try invite.creator.map { creator in
      (creator, try rooms.profiles(of: [creator])[creator] ?? Profile(nickname: ""))
    }
    return Preview(space: space, role: role, expiresAt: invite.invite.expiresAt, inviter: inviter)
  }
}

extension InviteLinkRow {
  /// Why no new user can join with the invite; nil if one can.
  fileprivate func refusal(at time: Timestamp) -> Rejection? {
    if revoked != nil { return .inviteRevoked }
    if invite.isExpired(at: time) { return .inviteExpired }
    if let most = invite.maximumUses, uses >= UInt64(most) { return .inviteUsedUp }
    return nil
  }
}
