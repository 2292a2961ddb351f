package import ChatPrimitives

/// Unread counts, never by counting rows. What is unread for a member are the messages after the marker, less those of
/// them that are deleted. The marker starts at the room's last ordinal of the join, and sending moves it to the
/// message sent.
extension RoomsQueries {
  /// nil when the user is not a member or there is no such room.
  package func unreadCount(in room: RoomID, for user: UserID) throws -> UInt64? {
    let parts = try CachedStatement(
      database,
      """
      SELECT room.id, room.lastOrdinal, room.deletedCount, member.marker
      FROM member JOIN room ON room.id = member.roomId WHERE member.roomId = ? AND member.userId = ?
      """
    ).first(
      {
        $0.add(room)
        $0.add(user)
      }, Self.readParts)
    return try parts.map(unreadCount)
  }

  /// What the badge of the user's devices says: the unread messages of all rooms that are neither archived nor muted at
  /// `time`. The room list, the badge and the push count in the same way, from the same rows.
  package func badge(of user: UserID, at time: Timestamp) throws -> UInt64 {
    let rooms = try CachedStatement(
      database,
      """
      SELECT room.id, room.lastOrdinal, room.deletedCount, member.marker
      FROM member JOIN room ON room.id = member.roomId
      WHERE member.userId = ? AND room.archivedPosition IS NULL AND room.lastOrdinal > member.marker
        AND (member.mutedUntil IS NULL OR member.mutedUntil <= ?)
      """
    ).all(
      {
        $0.add(user)
        $0.add(time)
      }, Self.readParts)
    var count: UInt64 = 0
    for parts in rooms { count += try unreadCount(parts) }
    return count
  }

  /// What an unread count is made of.
  struct UnreadParts {
    let room: RoomID
    let lastOrdinal: UInt64
    let deletedCount: UInt64
    let marker: UInt64
  }

  private static func readParts(_ row: inout ColumnReader) throws -> UnreadParts {
    try UnreadParts(room: row.id(), lastOrdinal: row.unsigned(), deletedCount: row.unsigned(), marker: row.unsigned())
  }

  /// One walk down the deletion tree at most: how many are deleted in all, the room's row knows.
  func unreadCount(_ parts: UnreadParts) throws -> UInt64 {
    guard parts.lastOrdinal > parts.marker else { return 0 }
    let after = parts.lastOrdinal - parts.marker
    guard parts.deletedCount > 0 else { return after }
    let deletedThroughMarker = try DeletionTree.deleted(through: parts.marker, in: parts.room, database)
    let deletedAfter = parts.deletedCount - min(parts.deletedCount, deletedThroughMarker)
    return after - min(after, deletedAfter)
  }
}
