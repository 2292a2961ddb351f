package import ChatDomain
package import ChatPrimitives

package struct WorkspaceRow: Sendable, Hashable {
  package var id: WorkspaceID
  package var name: String
  /// Nil if the workspace has no topic.
  package var topic: String?
  package var picture: MediaID?
  package var memberCount: UInt64
  package var created: Stamp
  /// Where it was created or last edited.
  package var revision: LogPosition
}

package struct WorkspaceMemberRow: Sendable, Hashable {
  package var user: UserID
  package var role: WorkspaceRole
  package var joined: Stamp
}

/// A workspace as one of its members sees it.
package struct WorkspaceListRow: Sendable, Hashable {
  package var workspace: WorkspaceRow
  package var member: WorkspaceMemberRow
  /// The unread counts of its channels and direct rooms that are neither archived, hidden nor muted.
  package var badge = BadgeRow()
}

/// Workspaces in the order in which the user joined them.
package struct WorkspacePage: Sendable, Hashable {
  package var workspaces: [WorkspaceListRow]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// Members in the order in which they joined.
package struct WorkspaceMemberPage: Sendable, Hashable {
  package var members: [WorkspaceMemberRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// An invitation of a user to a workspace.
package struct InvitationRow: Sendable, Hashable {
  package var workspace: WorkspaceID
  package var user: UserID
  package var role: WorkspaceRole
  package var made: Stamp
  /// Nil if a service invited the user on its own behalf.
  package var inviter: UserID?
}

/// Invitations, newest first.
package struct InvitationPage: Sendable, Hashable {
  package var invitations: [InvitationRow]
  /// The workspaces of these invitations.
  package var workspaces: [WorkspaceID: WorkspaceRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// Channels in the order in which they were created.
package struct ChannelPage: Sendable, Hashable {
  package var rooms: [RoomListRow]
  /// The profiles of the last messages' senders.
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

extension RoomsQueries {
  // MARK: - Workspaces

  /// The workspace, unless it is deleted. The caller must have checked that the user may see it.
  package func workspace(_ id: WorkspaceID) throws -> WorkspaceRow? {
    try CachedStatement(
      database, "SELECT \(Self.workspaceColumns) FROM workspace WHERE id = ? AND deletedPosition IS NULL"
    ).first(id, read: Self.readWorkspace)
  }

  static let workspaceColumns = "id, createdPosition, createdTime, revision, memberCount, picture, topic, name"

  static func readWorkspace(_ row: inout RowReader) throws -> WorkspaceRow {
    let id: WorkspaceID = try row.id()
    let (created, revision, memberCount) = try (row.stamp(), row.position(), row.unsigned())
    let picture: MediaID? = try row.optional { try $0.id() }
    let topic = try row.optional { try $0.text() }
    return WorkspaceRow(
      id: id, name: try row.text(), topic: topic, picture: picture, memberCount: memberCount, created: created,
      revision: revision)
  }

  /// The workspace as the user sees it. Nil if the user is not a member or there is no such workspace.
  package func workspaceListRow(_ id: WorkspaceID, for user: UserID) throws -> WorkspaceListRow? {
    guard let member = try member(user, of: id), let workspace = try workspace(id) else { return nil }
    return WorkspaceListRow(workspace: workspace, member: member)
  }

  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func workspaces(
    of user: UserID, after cursor: LogPosition? = nil, limit: Int
  ) throws -> WorkspacePage {
    let found = try CachedStatement(
      database,
      """
      SELECT workspace.id FROM workspaceMember JOIN workspace ON workspace.id = workspaceMember.workspaceId
      WHERE workspaceMember.userId = ? AND joinedPosition > ? AND deletedPosition IS NULL
      ORDER BY joinedPosition LIMIT ?
      """
    ).all(user, cursor.map { Int64(clamping: $0.value) } ?? 0, limit + 1) { try $0.id(WorkspaceID.self) }
    let workspaces = try found.prefix(limit).compactMap { try workspaceListRow($0, for: user) }
    return WorkspacePage(
      workspaces: workspaces, next: found.count > limit ? workspaces.last?.member.joined.position : nil)
  }

  // MARK: - Members

  /// Nil also if the workspace is deleted and the rows of its members are not removed yet.
  package func member(_ user: UserID, of workspace: WorkspaceID) throws -> WorkspaceMemberRow? {
    try CachedStatement(
      database,
      """
      SELECT \(Self.workspaceMemberColumns) FROM workspaceMember WHERE workspaceId = ? AND userId = ? AND EXISTS (
        SELECT 1 FROM workspace WHERE workspace.id = workspaceMember.workspaceId AND deletedPosition IS NULL)
      """
    ).first(workspace, user, read: Self.readWorkspaceMember)
  }

  static let workspaceMemberColumns = "userId, role, joinedPosition, joinedTime"

  static func readWorkspaceMember(_ row: inout RowReader) throws -> WorkspaceMemberRow {
    try WorkspaceMemberRow(user: row.id(), role: row.choice(), joined: row.stamp())
  }

  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func members(
    of workspace: WorkspaceID, after cursor: LogPosition? = nil, limit: Int
  ) throws -> WorkspaceMemberPage {
    let found = try CachedStatement(
      database,
      """
      SELECT \(Self.workspaceMemberColumns) FROM workspaceMember WHERE workspaceId = ? AND joinedPosition > ?
      ORDER BY joinedPosition LIMIT ?
      """
    ).all(workspace, cursor.map { Int64(clamping: $0.value) } ?? 0, limit + 1, read: Self.readWorkspaceMember)
    let members = Array(found.prefix(limit))
    return WorkspaceMemberPage(
      members: members, profiles: try profiles(of: members.lazy.map(\.user)),
      next: found.count > limit ? members.last?.joined.position : nil)
  }

  // MARK: - Invitations

  static let invitationColumns = "workspaceId, userId, role, madePosition, madeTime, inviter"

  static func readInvitation(_ row: inout RowReader) throws -> InvitationRow {
    try InvitationRow(
      workspace: row.id(), user: row.id(), role: row.choice(), made: row.stamp(), inviter: row.optional { try $0.id() })
  }

  /// The invitations that the user has not answered.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func invitations(of user: UserID, before cursor: LogPosition? = nil, limit: Int) throws -> InvitationPage {
    try invitationPage(
      """
      SELECT \(Self.invitationColumns) FROM invitation WHERE userId = ? AND madePosition < ? AND EXISTS (
        SELECT 1 FROM workspace WHERE workspace.id = invitation.workspaceId AND deletedPosition IS NULL)
      ORDER BY madePosition DESC LIMIT ?
      """, user.uuid, cursor, limit)
  }

  /// The invitations to a workspace that are not answered.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func invitations(
    into workspace: WorkspaceID, before cursor: LogPosition? = nil, limit: Int
  ) throws -> InvitationPage {
    // A workspace has so few invitations that they can be sorted without an index.
    try invitationPage(
      """
      SELECT \(Self.invitationColumns) FROM invitation WHERE workspaceId = ? AND madePosition < ?
      ORDER BY madePosition DESC LIMIT ?
      """, workspace.uuid, cursor, limit)
  }

  private func invitationPage(
    _ sql: String, _ owner: UUIDBytes, _ cursor: LogPosition?, _ limit: Int
  ) throws -> InvitationPage {
    let found = try CachedStatement(database, sql)
      .all(owner, cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit + 1, read: Self.readInvitation)
    let invitations = Array(found.prefix(limit))
    var workspaces: [WorkspaceID: WorkspaceRow] = [:]
    for id in Set(invitations.map(\.workspace)) { workspaces[id] = try workspace(id) }
    return InvitationPage(
      invitations: invitations, workspaces: workspaces,
      profiles: try profiles(of: invitations.flatMap { [$0.user, $0.inviter].compactMap { $0 } }),
      next: found.count > limit ? invitations.last?.made.position : nil)
  }

  // MARK: - Channels

  /// The channels that the user is in or can find, including archived ones. Direct rooms (kind 2) are not channels. Guests
  /// find no public channels. Nil if the user is not a member of the workspace.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func channels(
    of workspace: WorkspaceID, for user: UserID, after cursor: LogPosition? = nil, limit: Int
  ) throws -> ChannelPage? {
    guard let member = try member(user, of: workspace) else { return nil }
    let found = try CachedStatement(
      database,
      """
      SELECT id FROM room INDEXED BY channel_by_workspace
      WHERE workspaceId = ?1 AND kind <> 2 AND createdPosition > ?2 AND (
        (isPublic = 1 AND ?3) OR EXISTS (SELECT 1 FROM member WHERE member.roomId = room.id AND member.userId = ?4))
      ORDER BY createdPosition LIMIT ?5
      """
    ).all(workspace, cursor.map { Int64(clamping: $0.value) } ?? 0, member.role >= .member, user, limit + 1) {
      try $0.id(RoomID.self)
    }
    var rooms: [RoomListRow] = []
    var isCut = found.count > limit
    var budget = PageBudget()
    for id in found.prefix(limit) {
      guard let row = try visibleRoom(id, for: user) else { continue }
      guard budget.take(row.contentBytes) else {
        isCut = true
        break
      }
      rooms.append(row)
    }
    return ChannelPage(
      rooms: rooms, profiles: try profiles(in: rooms), next: isCut ? rooms.last?.room.created.position : nil)
  }

  /// The room as the user sees it. A member sees everything. A member of its workspace who is not a guest sees a public
  /// channel without its messages.
  package func visibleRoom(_ id: RoomID, for user: UserID) throws -> RoomListRow? {
    if let row = try roomListRow(id, for: user) { return row }
    guard let row = try bareRoom(id), row.room.isPublic, let workspace = row.room.workspace,
      let member = try member(user, of: workspace), member.role >= .member
    else { return nil }
    return row
  }

  /// The room without its messages and without anyone's membership.
  package func bareRoom(_ id: RoomID) throws -> RoomListRow? {
    guard var room = try room(id) else { return nil }
    room.lastMessage = nil
    return RoomListRow(
      room: room, member: nil, participants: [], unreadCount: 0, mentionCount: 0,
      custom: try RoomCustom.value(of: id, database))
  }

  /// Whether the user may do what a room's administrators do: with that role in the room, or, in a public channel, as
  /// an administrator of its workspace. Nil if the user is neither a member of the room nor an administrator of its
  /// workspace, even if the user can find it, because deciders also report to such users that there is no such room.
  package func administers(_ id: RoomID, _ user: UserID) throws -> Bool? {
    guard let row = try visibleRoom(id, for: user) else { return nil }
    if let role = row.member?.role, role >= .administrator { return true }
    if row.room.isPublic, let workspace = row.room.workspace, let member = try member(user, of: workspace),
      member.role >= .administrator
    {
      return true
    }
    return row.member == nil ? nil : false
  }
}
