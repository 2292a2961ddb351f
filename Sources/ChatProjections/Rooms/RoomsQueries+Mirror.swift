package import ChatDomain
package import ChatPrimitives

/// What a room or workspace consists of, and where each of its entities last changed: what a client asks that mirrors them.
extension RoomsQueries {
  // MARK: - All of a room or workspace, in the order of IDs

  /// - Parameter last: users after this are returned; nil to begin with the first.
  package func memberIDs(of room: RoomID, after last: UserID?, limit: Int) throws -> [UserID] {
    try CachedStatement(
      database, "SELECT userId FROM member WHERE roomId = ? AND userId > ? ORDER BY userId LIMIT ?"
    ).all(room, last?.uuid ?? .zero, limit) { try $0.id() }
  }

  /// - Parameter last: users after this are returned; nil to begin with the first.
  package func memberIDs(of workspace: WorkspaceID, after last: UserID?, limit: Int) throws -> [UserID] {
    try CachedStatement(
      database, "SELECT userId FROM workspaceMember WHERE workspaceId = ? AND userId > ? ORDER BY userId LIMIT ?"
    ).all(workspace, last?.uuid ?? .zero, limit) { try $0.id() }
  }

  /// Reads all channels of the workspace, of which there are at most `Limits.channelsPerWorkspace`.
  /// - Parameter last: channels after this are returned; nil to begin with the first.
  package func publicChannels(of workspace: WorkspaceID, after last: RoomID?, limit: Int) throws -> [RoomID] {
    try CachedStatement(
      database,
      """
      SELECT id FROM room INDEXED BY channel_by_workspace
      WHERE workspaceId = ? AND kind <> 2 AND isPublic = 1 AND id > ?
      ORDER BY id LIMIT ?
      """
    ).all(workspace, last?.uuid ?? .zero, limit) { try $0.id() }
  }

  // MARK: - Where something last changed

  /// Nil if no change of the entity was noted.
  package func changePosition(of entity: ChangedEntity, in scope: ChangeScope) throws -> LogPosition? {
    try Changes.position(of: entity, in: scope, database)
  }

  /// Where a workspace's own row last changed. Nil if there is no such workspace.
  package func changePosition(of workspace: WorkspaceID) throws -> LogPosition? {
    try CachedStatement(database, "SELECT changed FROM workspace WHERE id = ?").first(workspace) { try $0.position() }
  }

  /// Where the user's following of a thread last changed, even if the user no longer follows it.
  package func changePosition(
    ofFollowing root: UInt64, in room: RoomID, by user: UserID
  ) throws -> LogPosition? {
    try CachedStatement(database, "SELECT changed FROM threadFollower WHERE roomId = ? AND root = ? AND userId = ?")
      .first(room, root, user) { try $0.position() }
  }

  /// The workspaces of a user.
  package func joinedWorkspaces(of user: UserID) throws -> [JoinedWorkspace] {
    try CachedStatement(
      database,
      """
      SELECT workspace.id, role, workspace.changed FROM workspaceMember INDEXED BY workspaceMember_by_user
      CROSS JOIN workspace ON workspace.id = workspaceMember.workspaceId
      WHERE userId = ? AND deletedPosition IS NULL
      """
    ).all(user) { try JoinedWorkspace(workspace: $0.id(), role: $0.choice(), changed: $0.position()) }
  }

  /// What a user lost with rooms and workspaces that were deleted, as far as `BulkDeletion` has not noted it yet.
  package func deletionsInProgress(
    of user: UserID, after position: LogPosition, through target: LogPosition
  ) throws -> [Change] {
    try Self.deletionParts.flatMap { type, sql in
      try CachedStatement(database, sql).all(user, position, target) { row in
        let (id, room) = try (row.uuid(), row.uuid())
        return try Change(entity: ChangedEntity(type: type, id: id, room: room), position: row.position())
      }
    }
  }

  /// The parameters are the user and the two positions.
  private static let deletionParts: [(ChangeType, String)] = {
    func inRooms(_ table: String, user: String, id: String, room: String) -> String {
      """
      SELECT \(id), \(room), deletedRoom.position FROM clearing
      CROSS JOIN deletedRoom ON deletedRoom.id = clearing.id
      CROSS JOIN \(table) ON \(table).roomId = clearing.id AND \(table).\(user) = ?
      WHERE clearing.scope = \(BulkDeletion.Scope.room.rawValue)
        AND deletedRoom.position > ? AND deletedRoom.position <= ?
      """
    }
    func inWorkspaces(_ table: String) -> String {
      """
      SELECT clearing.id, zeroblob(16), workspace.deletedPosition FROM clearing
      CROSS JOIN workspace ON workspace.id = clearing.id
      CROSS JOIN \(table) ON \(table).workspaceId = clearing.id AND \(table).userId = ?
      WHERE clearing.scope = \(BulkDeletion.Scope.workspace.rawValue)
        AND workspace.deletedPosition > ? AND workspace.deletedPosition <= ?
      """
    }
    return [
      (.room, inRooms("member", user: "userId", id: "clearing.id", room: "zeroblob(16)")),
      (.scheduledMessage, inRooms("scheduled", user: "author", id: "messageId", room: "clearing.id")),
      (.workspace, inWorkspaces("workspaceMember")),
      (.invitation, inWorkspaces("invitation")),
    ]
  }()

  // MARK: - One entity

  package func invitation(of user: UserID, into workspace: WorkspaceID) throws -> InvitationRow? {
    try CachedStatement(
      database, "SELECT \(Self.invitationColumns) FROM invitation WHERE workspaceId = ? AND userId = ?"
    ).first(workspace, user, read: Self.readInvitation)
  }

  /// Whether the user hides read markers from others.
  package func hidesMarkers(_ user: UserID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM hiddenReader WHERE userId = ?").exists(user)
  }
}

/// A user's role in a workspace, and where the workspace itself last changed.
package struct JoinedWorkspace: Sendable, Hashable {
  package var workspace: WorkspaceID
  package var role: WorkspaceRole
  package var changed: LogPosition
}
