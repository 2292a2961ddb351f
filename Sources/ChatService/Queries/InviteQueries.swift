package import ChatDomain
package import ChatPrimitives
package import ChatProjections

extension ChatService {
  /// The newest first; for whoever may share the room.
  /// - Parameter cursor: where the last one of the page before was made; nil for the first page.
  package func invites(
    of room: RoomID, for user: UserID, before cursor: LogPosition? = nil, limit: Int = Limits.pageItems
  ) async throws(ServiceError) -> [InviteRow] {
    try await administering(room, user) { try $0.invites(of: room, before: cursor, limit: limit) }
  }

  package func invite(_ invite: InviteID, of room: RoomID) async throws(ServiceError) -> InviteRow {
    guard let row = try await rooms({ try $0.invite(invite, of: room) }) else { throw .rejected(.inviteNotFound) }
    return row
  }

  /// The newest first; for the workspace's administrators.
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
    InviteTokens(keys).token(for: invite, of: room)
  }

  package func token(of invite: InviteID, in workspace: WorkspaceID) -> String {
    InviteTokens(keys).token(for: invite, of: workspace)
  }

  // MARK: Preview

  /// What whoever holds a token may see before coming in.
  package struct Preview: Sendable {
    package enum Space: Sendable {
      case room(RoomRow)
      case workspace(WorkspaceRow)
    }

    package let space: Space
    /// The role that the invite gives by now, by its name: no more than its maker still has.
    package let role: String
    package let expiresAt: Timestamp
    /// nil when a service made the invite for itself.
    package let inviter: (id: UserID, nickname: String)?
  }

  /// Who is in already is shown it also when nobody new comes in by it: so is accepting a repeat.
  package func preview(ofInviteWithToken token: String, for user: UserID) async throws(ServiceError) -> Preview {
    let hash = InviteTokens.hash(of: token)
    let now = now()
    let found: Result<Preview, Rejection> = try await rooms { rooms in
      do {
        if let invite = try rooms.invite(tokenHash: hash), let room = try rooms.room(invite.space) {
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
        if let invite = try rooms.workspaceInvite(tokenHash: hash),
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
      (creator, try rooms.nicknames(of: [creator])[creator] ?? "")
    }
    return Preview(space: space, role: role, expiresAt: invite.invite.expiresAt, inviter: inviter)
  }
}

extension InviteLinkRow {
  /// Why nobody new comes in by it; nil where it still lets someone in.
  fileprivate func refusal(at time: Timestamp) -> Rejection? {
    if revoked != nil { return .inviteRevoked }
    if invite.expiresAt <= time { return .inviteExpired }
    if let most = invite.maximumUses, uses >= UInt64(most) { return .inviteUsedUp }
    return nil
  }
}
