import ChatDomain
import ChatPrimitives

/// Restores the deciders' state.
extension RoomsQueries {
  func roomStates() throws -> RestoredState<RoomID, RoomState> {
    let members: [RoomID: [UserID: Member]] = try grouped(
      "SELECT roomId, \(Self.memberColumns) FROM member ORDER BY roomId", Self.readMember, { ($0.user, $0.state) })
    let invites: [RoomID: [InviteID: InviteState]] = try grouped(
      "SELECT roomId, \(Self.inviteColumns) FROM invite ORDER BY roomId",
      { row -> InviteRow in try Self.readInvite(&row) }, { ($0.invite.id, $0.state) })
    let banned: [RoomID: [UserID: Stamp]] = try grouped(
      "SELECT roomId, userId, position, time FROM ban ORDER BY roomId",
      { row in (user: try row.id(UserID.self), since: try row.stamp()) }, { ($0.user, $0.since) })
    let silenced: [RoomID: [UserID: Timestamp]] = try grouped(
      "SELECT roomId, userId, until FROM silencedAway ORDER BY roomId",
      { row in (user: try row.id(UserID.self), until: try row.time()) }, { ($0.user, $0.until) })
    let scheduled: [RoomID: [MessageID: WaitingMessage]] = try grouped(
      "SELECT roomId, \(Self.scheduledColumns) FROM scheduled WHERE failure IS NULL ORDER BY roomId",
      Self.readScheduled, { ($0.id, WaitingMessage($0.message, revision: $0.revision)) })
    let openReports: [RoomID: [ReportID: UserID]] = try grouped(
      "SELECT roomId, reportId, reporter FROM report WHERE isOpen = 1 ORDER BY roomId",
      { row in (id: try row.id(ReportID.self), reporter: try row.id(UserID.self)) }, { ($0.id, $0.reporter) })
    var states: [RoomID: RoomState] = [:]
    states.reserveCapacity(try database.rowCount(of: "room"))
    try CachedStatement(
      database,
      """
      SELECT id, kind, lastOrdinal, archivedPosition, archivedTime, fingerprint, createdPosition, createdTime,
        revision, workspaceId, isPublic, hasHadOwner, name
      FROM room
      """
    ).forEach { row in
      let (id, kind) = try (row.id(RoomID.self), row.choice(RoomKind.self))
      let lastOrdinal = try row.unsigned()
      let archived = try row.optionalStamp()
      let fingerprint = try row.optional { try $0.fingerprint() }
      let (created, revision) = try (row.stamp(), row.position())
      let workspace = try row.optional { try $0.id(WorkspaceID.self) }
      let isPublic = try row.number() != 0
      let hasHadOwner = try row.number() != 0
      var room = Room(
        creationFingerprint: fingerprint, created: created, kind: kind, name: try row.text(),
        members: members[id] ?? [:], invites: invites[id] ?? [:], lastOrdinal: lastOrdinal)
      room.revision = revision
      room.workspace = workspace
      room.isPublic = isPublic
      room.hasHadOwner = hasHadOwner
      room.banned = banned[id] ?? [:]
      room.silencedAway = silenced[id] ?? [:]
      room.scheduled = ScheduledMessages(scheduled[id] ?? [:])
      room.openReports = openReports[id] ?? [:]
      states[id] = archived.map { .archived(room, $0) } ?? .open(room)
    }
    return RestoredState(states: states, position: try checkpoint().position)
  }

  func workspaceStates() throws -> RestoredState<WorkspaceID, (WorkspaceState, StreamVersion)> {
    let members: [WorkspaceID: [UserID: WorkspaceMember]] = try grouped(
      "SELECT workspaceId, \(Self.workspaceMemberColumns) FROM workspaceMember ORDER BY workspaceId",
      Self.readWorkspaceMember, { ($0.user, WorkspaceMember(role: $0.role, joined: $0.joined)) })
    let invites: [WorkspaceID: [InviteID: WorkspaceInviteState]] = try grouped(
      "SELECT workspaceId, \(Self.workspaceInviteColumns) FROM workspaceInvite ORDER BY workspaceId",
      { row -> WorkspaceInviteRow in try Self.readInvite(&row) }, { ($0.invite.id, $0.state) })
    let invited: [WorkspaceID: [UserID: Invitation]] = try grouped(
      "SELECT workspaceId, \(Self.invitationColumns) FROM invitation ORDER BY workspaceId", Self.readInvitation,
      { ($0.user, Invitation(role: $0.role, made: $0.made, maker: $0.inviter)) })
    var states: [WorkspaceID: (WorkspaceState, StreamVersion)] = [:]
    try CachedStatement(
      database,
      """
      SELECT id, version, fingerprint, createdPosition, createdTime, revision
      FROM workspace WHERE deletedPosition IS NULL
      """
    ).forEach { row in
      let (id, version) = try (row.id(WorkspaceID.self), StreamVersion(row.unsigned()))
      let fingerprint = try row.optional { try $0.fingerprint() }
      let (created, revision) = try (row.stamp(), row.position())
      var workspace = Workspace(
        creationFingerprint: fingerprint, created: created, members: members[id] ?? [:],
        invited: invited[id] ?? [:], invites: invites[id] ?? [:])
      workspace.revision = revision
      states[id] = (.open(workspace), version)
    }
    return RestoredState(states: states, position: try checkpoint().position)
  }
}

extension MemberRow {
  fileprivate var state: Member {
    var member = Member(
      role: role, joined: joined, joinedOrdinal: joinedOrdinal, marker: marker, mutedUntil: mutedUntil)
    member.silencedUntil = silencedUntil
    member.unreadFrom = unread?.ordinal
    return member
  }
}

extension InviteLinkRow {
  fileprivate var state: InviteLinkState<GivenRole> {
    InviteLinkState(invite: invite, created: created, maker: creator, uses: uses, revoked: revoked)
  }
}
