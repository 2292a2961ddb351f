package import ChatPrimitives

/// The numbers on an app's icon and beside its workspaces.
package struct BadgeRow: Sendable, Hashable {
  /// Messages of the rooms' own timelines.
  package var unread: UInt64 = 0
  /// Those of them that call the user.
  package var mentions: UInt64 = 0
  /// Replies in the threads that the user follows.
  package var threadUnread: UInt64 = 0

  package init(unread: UInt64 = 0, mentions: UInt64 = 0, threadUnread: UInt64 = 0) {
    self.unread = unread
    self.mentions = mentions
    self.threadUnread = threadUnread
  }
}

/// Room list, badge and push count in the same way, from the same rows: unread is what lies after the marker, or from
/// the mark on, in rooms that are neither archived nor muted.
extension RoomsQueries {
  /// What the badge of the user's devices says at `time`, and what it is made of.
  package func badges(of user: UserID, at time: Timestamp) throws -> BadgeRow {
    var badge = BadgeRow(threadUnread: try threadBadge(of: user, at: time))
    for parts in try unreadRooms(of: user, at: time) {
      try add(parts, of: user, to: &badge)
    }
    return badge
  }

  /// What is unread in the channels of each workspace; a workspace where nothing is, is left out.
  package func workspaceBadges(of user: UserID, at time: Timestamp) throws -> [WorkspaceID: BadgeRow] {
    var badges: [WorkspaceID: BadgeRow] = [:]
    let rooms = try CachedStatement(
      database, "\(Self.unreadRooms) AND room.workspaceId IS NOT NULL"
    ).all(
      {
        $0.add(user)
        $0.add(time)
      }, { (parts: try Self.readUnreadParts(&$0), workspace: try $0.id(WorkspaceID.self)) })
    for (parts, workspace) in rooms { try add(parts, of: user, to: &badges[workspace, default: BadgeRow()]) }
    return badges
  }

  /// The same of one workspace; rooms elsewhere cost nothing but a look at their rows.
  package func workspaceBadge(of user: UserID, in workspace: WorkspaceID, at time: Timestamp) throws -> BadgeRow {
    var badge = BadgeRow()
    let rooms = try CachedStatement(database, "\(Self.unreadRooms) AND room.workspaceId = ?").all(
      {
        $0.add(user)
        $0.add(time)
        $0.add(workspace)
      }, Self.readUnreadParts)
    for parts in rooms { try add(parts, of: user, to: &badge) }
    return badge
  }

  private func add(_ parts: UnreadParts, of user: UserID, to badge: inout BadgeRow) throws {
    badge.unread += try unreadCount(parts)
    badge.mentions += try mentionCount(
      of: user, in: parts.room, after: parts.readThrough, joinedAt: parts.joinedOrdinal)
  }

  /// The number alone that an app's icon shows.
  package func badge(of user: UserID, at time: Timestamp) throws -> UInt64 {
    try unreadRooms(of: user, at: time).reduce(0) { try $0 + unreadCount($1) }
  }

  /// What `readUnreadParts` reads, and the workspace.
  private static let unreadRooms = """
    SELECT room.id, room.lastOrdinal, room.deletedCount, \(readThrough), member.joinedOrdinal, room.workspaceId
    FROM member JOIN room ON room.id = member.roomId
    WHERE member.userId = ? AND room.archivedPosition IS NULL AND room.lastOrdinal > \(readThrough)
      AND (member.mutedUntil IS NULL OR member.mutedUntil <= ?)
    """

  private func unreadRooms(of user: UserID, at time: Timestamp) throws -> [UnreadParts] {
    try CachedStatement(database, Self.unreadRooms).all(
      {
        $0.add(user)
        $0.add(time)
      }, Self.readUnreadParts)
  }
}
