package import ChatPrimitives

/// Counts unread messages without counting rows. Unread for a member are the messages after the marker that are not
/// deleted. The marker starts at the room's last ordinal at the time of the join, and sending a message moves it to
/// that message. If the member has marked an earlier message as unread, the messages from there on count, until the
/// member reads up to it again. Messages whose sender the member blocked when they were sent do not count.
extension RoomsQueries {
  /// Nil if the user is not a member or there is no such room.
  package func unreadCount(in room: RoomID, for user: UserID) throws -> UInt64? {
    let blocker = try blocker(user)
    let parts = try CachedStatement(
      database,
      """
      SELECT room.id, room.lastOrdinal, room.deletedCount, \(Self.readThrough), member.joinedOrdinal
      FROM member JOIN room ON room.id = member.roomId WHERE member.roomId = ? AND member.userId = ?
      """
    ).first(room, user) { try Self.readUnreadParts(&$0, leftOutFor: blocker) }
    return try parts.map(unreadCount)
  }

  /// `MemberRow.readThrough` as an SQL expression.
  package static let readThrough = "MIN(member.marker, IFNULL(member.unreadFrom - 1, member.marker))"

  /// The values from which an unread count is computed.
  struct UnreadParts {
    let room: RoomID
    let lastOrdinal: UInt64
    let deletedCount: UInt64
    /// The ordinal up to which messages are read.
    let readThrough: UInt64
    /// The room's last ordinal when the member joined.
    let joinedOrdinal: UInt64
    /// The user whose left-out messages are subtracted; nil for a user who has never blocked anyone.
    let leftOutFor: UserID?
  }

  /// Returns `user` if the user has ever blocked anyone, otherwise nil. A badge looks it up once for all rooms.
  func blocker(_ user: UserID) throws -> UserID? {
    try Blockers.hasEverBlocked(user, database) ? user : nil
  }

  static func readUnreadParts(_ row: inout RowReader, leftOutFor blocker: UserID?) throws -> UnreadParts {
    try UnreadParts(
      room: row.id(), lastOrdinal: row.unsigned(), deletedCount: row.unsigned(), readThrough: row.unsigned(),
      joinedOrdinal: row.unsigned(), leftOutFor: blocker)
  }

  /// Descends the set of deletions at most once, because the room's row has the total number of deletions. For a user
  /// who has ever blocked anyone, it also descends the set of left-out messages. The two sets have no message in
  /// common.
  func unreadCount(_ parts: UnreadParts) throws -> UInt64 {
    guard parts.lastOrdinal > parts.readThrough else { return 0 }
    var after = parts.lastOrdinal - parts.readThrough
    after -= min(after, try leftOutCount(after: parts.readThrough, for: parts.leftOutFor, in: parts.room))
    guard parts.deletedCount > 0 else { return after }
    let deletedThroughMarker = try OrdinalSet.count(
      through: parts.readThrough, of: .deletions(in: parts.room), database)
    let deletedAfter = parts.deletedCount - min(parts.deletedCount, deletedThroughMarker)
    return after - min(after, deletedAfter)
  }

  /// How many messages after `ordinal` do not count for a user, because the user blocked their senders.
  /// - Parameters:
  ///   - blocker: nil for a user who has never blocked anyone.
  ///   - thread: the ordinal of a thread's root; zero for the room's own timeline.
  func leftOutCount(
    after ordinal: UInt64, for blocker: UserID?, in room: RoomID, thread: UInt64 = 0
  ) throws -> UInt64 {
    guard let blocker else { return 0 }
    return try OrdinalSet.count(after: ordinal, of: .leftOut(for: blocker, in: room, thread: thread), database)
  }
}
