import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension Comparison {
  mutating func compareInvites(_ id: RoomID, for user: UserID) async throws {
    let expected = forAdministrators(id, user) { $0.invites.reversed().map { SeenInvite($0) } }
    let found = try await result { () async throws(ServiceError) in
      try await chat.invites(of: id, for: user).map { SeenInvite($0) }
    }
    try expect("invites of r\(id.short) for u\(user.short)", expected, found)
    for invite in (model.rooms[id]?.invites ?? []).suffix(3) { try await comparePreview(of: invite, in: id, for: user) }
  }

  /// Compares what the holder of a link sees.
  private func comparePreview(of invite: ModelInvite<Role>, in id: RoomID, for user: UserID) async throws {
    guard let room = model.rooms[id] else { return }
    let found = try await preview(
      invite.link.codeHash == nil
        ? .token(chat.token(of: invite.link.id, in: id)) : .code(chat.code(of: invite.link.id, in: id)), for: user)
    let expected: QueryResult<SeenPreview>
    if !room.exists {
      expected = .refused("invite_not_found")
    } else if room.isBanned(user) {
      expected = .refused("banned")
    } else if room.member(user) == nil, let refusal = refusal(of: invite) {
      expected = .refused(refusal)
    } else if room.member(user) == nil, room.archived != nil {
      expected = .refused("room_archived")
    } else {
      expected = .found(
        SeenPreview(
          name: room.name, memberCount: room.members.count, role: model.given(by: invite, in: room).name,
          inviter: invite.creator, inviterName: invite.creator.flatMap { model.profile(of: $0)?.nickname }))
    }
    try expect("preview of i\(invite.link.id.short) of r\(id.short) for u\(user.short)", expected, found)
  }

  func comparePreview(of invite: ModelInvite<WorkspaceRole>, in id: WorkspaceID, for user: UserID) async throws {
    guard let workspace = model.workspaces[id] else { return }
    let found = try await preview(
      invite.link.codeHash == nil
        ? .token(chat.token(of: invite.link.id, in: id)) : .code(chat.code(of: invite.link.id, in: id)), for: user)
    let expected: QueryResult<SeenPreview>
    if !workspace.exists {
      expected = .refused("invite_not_found")
    } else if workspace.member(user) == nil, let refusal = refusal(of: invite) {
      expected = .refused(refusal)
    } else {
      expected = .found(
        SeenPreview(
          name: workspace.name, memberCount: workspace.members.count,
          role: workspace.given(invite.link.role, by: invite.creator).name, inviter: invite.creator,
          inviterName: invite.creator.flatMap { model.profile(of: $0)?.nickname }))
    }
    try expect("preview of i\(invite.link.id.short) of w\(id.short) for u\(user.short)", expected, found)
  }

  private func refusal<GivenRole>(of invite: ModelInvite<GivenRole>) -> String? {
    if invite.revoked != nil { return "invite_revoked" }
    if let end = invite.link.expiresAt, end <= chat.now() { return "invite_expired" }
    if let most = invite.link.maximumUses, invite.uses >= UInt64(most) { return "invite_used_up" }
    return nil
  }

  private func preview(_ secret: InviteSecret, for user: UserID) async throws -> QueryResult<SeenPreview> {
    try await result { () async throws(ServiceError) in
      SeenPreview(try await chat.preview(of: secret, for: user))
    }
  }

  // MARK: - Moderation

  /// Compares the bans and the join history, page by page.
  mutating func compareModeration(_ id: RoomID, for user: UserID) async throws {
    let limit = random.within(1...6)
    let bans = try await result { () async throws(ServiceError) in
      var (found, cursor): ([ModelBan], LogPosition?) = ([], nil)
      repeat {
        let page = try await chat.bans(of: id, for: user, after: cursor, limit: limit)
        found += page.bans.map { ModelBan(user: $0.user, by: $0.banner, stamp: $0.banned) }
        cursor = page.next
      } while cursor != nil && found.count < Self.mostRows
      return found
    }
    let what = "of r\(id.short) for u\(user.short), \(limit) at a time"
    try expect("bans \(what)", forAdministrators(id, user) { $0.banned.reversed() }, bans)
    let history = try await result { () async throws(ServiceError) in
      var (found, cursor): ([SeenHistoryEntry], LogPosition?) = ([], nil)
      repeat {
        let page = try await chat.joinHistory(of: id, for: user, before: cursor, limit: limit)
        found += page.entries.map { SeenHistoryEntry($0) }
        cursor = page.next
      } while cursor != nil && found.count < Self.mostRows
      return found
    }
    try expect(
      "join history \(what)", forAdministrators(id, user) { $0.joinHistory.reversed().map { SeenHistoryEntry($0) } },
      history)
  }

  /// The number of rows after which an endless list is stopped.
  private static var mostRows: Int { 10_000 }
}

private struct SeenPreview: Equatable {
  let name: String
  let memberCount: Int
  let role: String
  let inviter: UserID?
  let inviterName: String?
}

extension SeenPreview {
  init(_ preview: ChatService.Preview) {
    switch preview.space {
    case .room(let room):
      name = room.name
      memberCount = Int(room.memberCount)
    case .workspace(let workspace):
      name = workspace.name
      memberCount = Int(workspace.memberCount)
    }
    role = preview.role
    inviter = preview.inviter?.id
    inviterName = preview.inviter?.profile.nickname
  }
}

private struct SeenHistoryEntry: Equatable {
  let user: UserID
  let change: String
  let role: Role?
  let by: UserID?
  let position: LogPosition
  let time: Timestamp

  init(_ entry: JoinHistoryEntry) {
    user = entry.user
    by = entry.by
    position = entry.stamp.position
    time = entry.stamp.time
    switch entry.what {
    case .joined(let role, _): (change, self.role) = ("joined", role)
    case .added(let role): (change, self.role) = ("added", role)
    case .left: (change, role) = ("left", nil)
    case .removed: (change, role) = ("removed", nil)
    case .banned: (change, role) = ("banned", nil)
    case .unbanned: (change, role) = ("unbanned", nil)
    case .roleChanged(let role): (change, self.role) = ("roleChanged", role)
    }
  }

  init(_ row: JoinHistoryRow) {
    user = row.user
    change = "\(row.change)"
    role = row.role
    by = row.actor
    position = row.position
    time = row.time
  }
}
