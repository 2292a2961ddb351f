package import ChatPrimitives

extension RoomsQueries {
  /// The rooms of a user in which something changed after a position, in the order of IDs. A room where the user is
  /// tracked has the position in the member's row. The others, usually few, are looked up one by one.
  /// - Parameters:
  ///   - previous: rooms with IDs after this are returned; nil to begin with the first.
  ///   - last: rooms with IDs up to this are returned; nil for no such limit.
  ///   - limit: the maximum number of rooms.
  package func changedRooms(
    of user: UserID, after position: LogPosition, beyond previous: RoomID? = nil, through last: RoomID? = nil,
    limit: Int
  ) throws -> [RoomID] {
    let (first, last) = (previous?.uuid ?? .zero, last?.uuid ?? UUIDBytes(high: .max, low: .max))
    let found = try Self.changedRoomParts.flatMap { sql in
      try CachedStatement(database, sql).all(user, position, first, last, limit) { try $0.id(RoomID.self) }
    }
    return Array(found.sorted().prefix(limit))
  }

  /// The rooms where the user is tracked, and those where not. The parameters of both are the user, the position, the two
  /// IDs and the limit.
  static let changedRoomParts = [
    """
    SELECT roomId FROM member INDEXED BY member_by_change
    WHERE userId = ? AND changed > ? AND roomId > ? AND roomId <= ? ORDER BY roomId LIMIT ?
    """,
    """
    SELECT room.id FROM member INDEXED BY member_by_user
    CROSS JOIN room ON room.id = member.roomId
    WHERE member.userId = ? AND member.list IS NULL AND MAX(room.changed, member.own) > ?
      AND room.id > ? AND room.id <= ? ORDER BY room.id LIMIT ?
    """,
  ]

  /// The changes noted for a user, a room or a workspace, in the order of positions.
  package func changes(
    in scope: ChangeScope, after start: ChangeStart, through target: LogPosition, limit: Int
  ) throws -> [Change] {
    try Changes.page(in: scope, after: start, through: target, limit: limit, database)
  }

  // MARK: - In a room or workspace
  //
  // One event changes at most one row of each kind here, so a page can continue after a position.

  /// The members who joined after a position, in the order in which they joined.
  package func joins(
    of room: RoomID, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [Change] {
    try CachedStatement(
      database,
      """
      SELECT userId, joinedPosition FROM member WHERE roomId = ? AND joinedPosition > ? AND joinedPosition <= ?
      ORDER BY joinedPosition LIMIT ?
      """
    ).all(room, position, target, limit) { try Self.readChange(.member, &$0) }
  }

  /// The members of a workspace who joined after a position, in the order in which they joined.
  package func joins(
    of workspace: WorkspaceID, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [Change] {
    try CachedStatement(
      database,
      """
      SELECT userId, joinedPosition FROM workspaceMember
      WHERE workspaceId = ? AND joinedPosition > ? AND joinedPosition <= ? ORDER BY joinedPosition LIMIT ?
      """
    ).all(workspace, position, target, limit) { try Self.readChange(.workspaceMember, &$0) }
  }

  /// The members whose markers moved after a position, in the order of the moves. Reads all members, so do not call it
  /// for a room that ever had more than `Limits.receiptMembers`.
  package func markerMoves(
    in room: RoomID, after position: LogPosition, through target: LogPosition
  ) throws -> [Change] {
    try CachedStatement(
      database,
      """
      SELECT userId, markerPosition FROM member WHERE roomId = ? AND markerPosition > ? AND markerPosition <= ?
      ORDER BY markerPosition
      """
    ).all(room, position, target) { try Self.readChange(.readMarker, &$0) }
  }

  private static func readChange(_ type: ChangeType, _ row: inout RowReader) throws -> Change {
    try Change(entity: ChangedEntity(type: type, id: row.uuid()), position: row.position())
  }

  /// The threads in which a reply was sent, edited or deleted after a position, in the order of the last changes.
  package func changedThreads(
    of room: RoomID, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [ChangedThread] {
    try CachedStatement(
      database,
      """
      SELECT roomId, root, changed FROM thread WHERE roomId = ? AND changed > ? AND changed <= ?
      ORDER BY changed LIMIT ?
      """
    ).all(room, position, target, limit, read: Self.readChangedThread)
  }

  /// The threads in all rooms in which the user's marker moved, or which the user followed or unfollowed, after a
  /// position, in the order of the last changes.
  package func changedFollowing(
    of user: UserID, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [ChangedThread] {
    try CachedStatement(
      database,
      """
      SELECT roomId, root, changed FROM threadFollower WHERE userId = ? AND changed > ? AND changed <= ?
      ORDER BY changed LIMIT ?
      """
    ).all(user, position, target, limit, read: Self.readChangedThread)
  }

  private static func readChangedThread(_ row: inout RowReader) throws -> ChangedThread {
    try ChangedThread(room: row.id(), root: row.unsigned(), position: row.position())
  }
}

/// Where a thread last changed, for all of its followers or for one.
package struct ChangedThread: Sendable, Hashable {
  package var room: RoomID
  /// The root's ordinal in the room.
  package var root: UInt64
  package var position: LogPosition
}
