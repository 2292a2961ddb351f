package import ChatPrimitives

/// Queries for support, which read whole tables. The server does not use them.
extension RoomsQueries {
  /// Rooms, newest first.
  /// - Parameter position: only rooms that were created before it.
  package func rooms(before position: LogPosition, limit: Int) throws -> [RoomRow] {
    try CachedStatement(
      database,
      "SELECT \(Self.roomColumns) FROM room WHERE createdPosition < ? ORDER BY createdPosition DESC LIMIT ?"
    ).all(Int64(clamping: position.value), limit, read: Self.readRoom)
  }

  /// The rooms that a user is a member of, newest first.
  package func rooms(of user: UserID, before position: LogPosition, limit: Int) throws -> [RoomRow] {
    try CachedStatement(
      database,
      """
      SELECT \(Self.roomColumns) FROM room
      WHERE id IN (SELECT roomId FROM member WHERE userId = ?) AND createdPosition < ?
      ORDER BY createdPosition DESC LIMIT ?
      """
    ).all(user, Int64(clamping: position.value), limit, read: Self.readRoom)
  }

  /// How many rooms the user is a member of.
  package func roomCount(of user: UserID) throws -> UInt64 {
    try CachedStatement(database, "SELECT count(*) FROM member WHERE userId = ?").first(user) { try $0.unsigned() } ?? 0
  }
}
