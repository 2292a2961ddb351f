package import ChatPrimitives

/// Where a room last changed for one user.
package struct ChangedRoom: Sendable, Hashable {
  package var room: RoomID
  package var position: LogPosition
}

extension RoomsQueries {
  /// The rooms of a user that changed after a position, in the order of their last changes. A room where the user is
  /// tracked has the position in the member's row. The others, usually few, are looked up one by one.
  /// - Parameter limit: the maximum number of rooms.
  package func changedRooms(of user: UserID, after position: LogPosition, limit: Int) throws -> [ChangedRoom] {
    let found = try Self.changedRoomParts.flatMap { sql in
      try CachedStatement(database, sql).all(user, position, limit) {
        try ChangedRoom(room: $0.id(), position: $0.position())
      }
    }.sorted { $0.position < $1.position }
    return Array(found.prefix(limit))
  }

  /// The rooms where the user is tracked, and those where not. The parameters of both are the user, the position and
  /// the limit.
  static let changedRoomParts = [
    "SELECT roomId, changed FROM member WHERE userId = ? AND changed > ? ORDER BY changed LIMIT ?",
    """
    SELECT room.id, MAX(room.changed, member.own) AS last FROM member INDEXED BY member_by_user
    CROSS JOIN room ON room.id = member.roomId
    WHERE member.userId = ? AND member.list IS NULL AND last > ? ORDER BY last LIMIT ?
    """,
  ]

  /// The changes noted for a user, a room or a workspace, in the order of positions.
  package func changes(
    in scope: ChangeScope, after start: ChangeStart, through target: LogPosition, limit: Int
  ) throws -> [Change] {
    try Changes.page(in: scope, after: start, through: target, limit: limit, database)
  }
}
