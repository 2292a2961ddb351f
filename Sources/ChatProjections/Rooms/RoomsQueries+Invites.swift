package import ChatDomain
package import ChatPrimitives

/// An invite link to a room or workspace, with its use and its revocation.
package struct InviteLinkRow<Space, GivenRole: InvitableRole>: Sendable, Hashable {
  package var space: ID<Space>
  package var invite: InviteLink<GivenRole>
  /// How many users joined with it.
  package var uses: UInt64
  package var created: Stamp
  /// Nil if a service created it on its own behalf.
  package var creator: UserID?
  package var revoked: Stamp?
}

package typealias InviteRow = InviteLinkRow<Entity.Room, Role>
package typealias WorkspaceInviteRow = InviteLinkRow<Entity.Workspace, WorkspaceRole>

extension RoomsQueries {
  // MARK: - Invites to rooms

  /// Nil if the invite's room is deleted.
  /// - Parameter hash: that of the token or the code.
  package func invite(hash: [UInt8]) throws -> InviteRow? {
    try CachedStatement(
      database,
      """
      SELECT \(Self.inviteColumns) FROM invite
      WHERE (tokenHash = ?1 OR codeHash = ?1) AND EXISTS (SELECT 1 FROM room WHERE room.id = invite.roomId)
      """
    ).first(hash, read: Self.readInvite)
  }

  package func invite(_ id: InviteID, of room: RoomID) throws -> InviteRow? {
    try CachedStatement(database, "SELECT \(Self.inviteColumns) FROM invite WHERE roomId = ? AND id = ?")
      .first(room, id, read: Self.readInvite)
  }

  /// All invites that were ever created for the room before a position, including expired and revoked ones, newest
  /// first.
  package func invites(of room: RoomID, before cursor: LogPosition?, limit: Int) throws -> [InviteRow] {
    // A room has so few invites that they can be sorted without an index.
    try CachedStatement(
      database,
      """
      SELECT \(Self.inviteColumns) FROM invite WHERE roomId = ? AND createdPosition < ?
      ORDER BY createdPosition DESC LIMIT ?
      """
    ).all(room, cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit, read: Self.readInvite)
  }

  static let inviteColumns = "roomId, \(linkColumns)"

  // MARK: - Invites to workspaces

  package func workspaceInvite(hash: [UInt8]) throws -> WorkspaceInviteRow? {
    try CachedStatement(
      database,
      """
      SELECT \(Self.workspaceInviteColumns) FROM workspaceInvite
      WHERE (tokenHash = ?1 OR codeHash = ?1) AND EXISTS (
        SELECT 1 FROM workspace WHERE workspace.id = workspaceInvite.workspaceId AND deletedPosition IS NULL)
      """
    ).first(hash, read: Self.readInvite)
  }

  package func invite(_ id: InviteID, of workspace: WorkspaceID) throws -> WorkspaceInviteRow? {
    try CachedStatement(
      database, "SELECT \(Self.workspaceInviteColumns) FROM workspaceInvite WHERE workspaceId = ? AND id = ?"
    ).first(workspace, id, read: Self.readInvite)
  }

  /// All invites that were ever created for the workspace before a position, including expired and revoked ones, newest
  /// first.
  package func invites(
    of workspace: WorkspaceID, before cursor: LogPosition?, limit: Int
  ) throws -> [WorkspaceInviteRow] {
    try CachedStatement(
      database,
      """
      SELECT \(Self.workspaceInviteColumns) FROM workspaceInvite WHERE workspaceId = ? AND createdPosition < ?
      ORDER BY createdPosition DESC LIMIT ?
      """
    ).all(workspace, cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit, read: Self.readInvite)
  }

  static let workspaceInviteColumns = "workspaceId, \(linkColumns)"

  // MARK: - Rows

  private static let linkColumns = """
    id, tokenHash, codeHash, role, expiresAt, maximumUses, uses, createdPosition, createdTime, creator,
    revokedPosition, revokedTime
    """

  static func readInvite<Space, GivenRole: InvitableRole>(
    _ row: inout RowReader
  ) throws -> InviteLinkRow<Space, GivenRole> {
    let space: ID<Space> = try row.id()
    let id: InviteID = try row.id()
    let (tokenHash, codeHash) = (try row.bytes(), try row.optional { try $0.bytes() })
    let invite = try InviteLink<GivenRole>(
      id: id, tokenHash: tokenHash, role: row.choice(), expiresAt: row.optional { try $0.time() },
      maximumUses: row.optional { try $0.narrow() }, codeHash: codeHash)
    return try InviteLinkRow(
      space: space, invite: invite, uses: row.unsigned(), created: row.stamp(), creator: row.optional { try $0.id() },
      revoked: row.optionalStamp())
  }
}
