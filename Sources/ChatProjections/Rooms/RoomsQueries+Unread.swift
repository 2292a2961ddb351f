package import ChatPrimitives

/// Unread counts, never by counting rows. What is unread for a member are the messages after the marker, less those of
/// them that are deleted. The marker starts at the room's last ordinal of the join, and sending moves it to the
/// message sent. Where the member has marked an earlier message as unread, the messages from there on count, until the
/// marker moves the next time.
extension RoomsQueries {
  /// nil when the user is not a member or there is no such room.
  package func unreadCount(in room: RoomID, for user: UserID) throws -> UInt64? {
    let parts = try CachedStatement(
      database,
      """
      SELECT room.id, room.lastOrdinal, room.deletedCount, \(Self.readThrough), member.joinedOrdinal
      FROM member JOIN room ON room.id = member.roomId WHERE member.roomId = ? AND member.userId = ?
      """
    ).first(room, user, read: Self.readUnreadParts)
    return try parts.map(unreadCount)
  }

  /// `MemberRow.readThrough` in SQL.
  static let readThrough = "MIN(member.marker, IFNULL(member.unreadFrom - 1, member.marker))"

  /// What an unread count is made of.
  struct UnreadParts {
    let room: RoomID
    let lastOrdinal: UInt64
    let deletedCount: UInt64
    /// Messages up to here are read.
    let readThrough: UInt64
    /// The room's last one at the member's join.
    let joinedOrdinal: UInt64
  }

  static func readUnreadParts(_ row: inout RowReader) throws -> UnreadParts {
    try UnreadParts(
      room: row.id(), lastOrdinal: row.unsigned(), deletedCount: row.unsigned(), readThrough: row.unsigned(),
      joinedOrdinal: row.unsigned())
  }

  /// One walk down the set of deletions at most: how many are deleted in all, the room's row knows.
  func unreadCount(_ parts: UnreadParts) throws -> UInt64 {
    guard parts.lastOrdinal > parts.readThrough else { return 0 }
    let after = parts.lastOrdinal - parts.readThrough
    guard parts.deletedCount > 0 else { return after }
    let deletedThroughMarker = try OrdinalSet.count(
      through: parts.readThrough, of: .deletions(in: parts.room), database)
    let deletedAfter = parts.deletedCount - min(parts.deletedCount, deletedThroughMarker)
    return after - min(after, deletedAfter)
  }
}
