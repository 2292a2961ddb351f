package import ChatPrimitives

/// The counts on an app's icon and beside its workspaces.
package struct BadgeRow: Sendable, Hashable {
  /// Unread messages in the rooms' own timelines.
  package var unread: UInt64 = 0
  /// How many of them mention the user.
  package var mentions: UInt64 = 0
  /// Unread replies in the threads that the user follows.
  package var threadUnread: UInt64 = 0

  package init(unread: UInt64 = 0, mentions: UInt64 = 0, threadUnread: UInt64 = 0) {
    self.unread = unread
    self.mentions = mentions
    self.threadUnread = threadUnread
  }

  fileprivate mutating func add(_ room: BadgeRow) {
    unread += room.unread
    mentions += room.mentions
  }
}

/// The room list, the badge and the push count use the same rows in the same way. Unread are the messages after the
/// marker, or from the unread mark on. The badge counts them in rooms that are neither archived nor hidden nor muted.
///
/// `badge` has the sums over the rooms where the user is tracked, updated with each event. The queries add rooms whose
/// mute has expired without an event, and the rooms where the user is not tracked, one by one.
extension RoomsQueries {
  /// The counts that the user's devices show at `time`.
  package func badges(of user: UserID, at time: Timestamp) throws -> BadgeRow {
    var badge = try trackedBadge(of: user, at: time)
    badge.threadUnread = try threadBadge(of: user, at: time)
    for (parts, _) in try untrackedUnread(of: user, at: time) { try add(parts, of: user, to: &badge) }
    return badge
  }

  /// The unread counts in the channels of each of these workspaces. Workspaces without unread messages are omitted.
  package func workspaceBadges(
    of user: UserID, in workspaces: some Sequence<WorkspaceID>, at time: Timestamp
  ) throws -> [WorkspaceID: BadgeRow] {
    var badges: [WorkspaceID: BadgeRow] = [:]
    for workspace in workspaces { badges[workspace] = try total(of: user, workspace.uuid) }
    guard !badges.isEmpty else { return badges }
    for (ended, workspace) in try endedMutes(of: user, at: time) {
      if let workspace { badges[workspace]?.add(ended) }
    }
    for (parts, workspace) in try untrackedUnread(of: user, at: time) {
      guard let workspace, var badge = badges[workspace] else { continue }
      try add(parts, of: user, to: &badge)
      badges[workspace] = badge
    }
    return badges.filter { $0.value != BadgeRow() }
  }

  /// The same for one workspace.
  package func workspaceBadge(of user: UserID, in workspace: WorkspaceID, at time: Timestamp) throws -> BadgeRow {
    try workspaceBadges(of: user, in: [workspace], at: time)[workspace] ?? BadgeRow()
  }

  /// Only the number that an app's icon shows.
  package func badge(of user: UserID, at time: Timestamp) throws -> UInt64 {
    let tracked = try trackedBadge(of: user, at: time).unread
    return try untrackedUnread(of: user, at: time).reduce(tracked) { try $0 + unreadCount($1.parts) }
  }

  // MARK: - Parts

  private func add(_ parts: UnreadParts, of user: UserID, to badge: inout BadgeRow) throws {
    badge.unread += try unreadCount(parts)
    badge.mentions += try mentionCount(
      of: user, in: parts.room, after: parts.readThrough, joinedAt: parts.joinedOrdinal, leftOutFor: parts.leftOutFor)
  }

  /// The counts of the rooms where the user is tracked.
  private func trackedBadge(of user: UserID, at time: Timestamp) throws -> BadgeRow {
    try endedMutes(of: user, at: time).reduce(into: total(of: user, BadgeTotals.allRooms)) { $0.add($1.badge) }
  }

  /// The stored total. It omits rooms that were muted and not unmuted since, even if the mute has expired.
  private func total(of user: UserID, _ scope: UUIDBytes) throws -> BadgeRow {
    try CachedStatement(database, "SELECT unread, mentions FROM badge WHERE userId = ? AND scope = ?")
      .first(user, scope) { BadgeRow(unread: try $0.unsigned(), mentions: try $0.unsigned()) } ?? BadgeRow()
  }

  /// The maximum number of unread rooms with an expired mute that a badge adds. If there are more, it adds those whose
  /// mute expired last.
  static let endedMutes = 1000

  static let mutesThatEnded = """
    SELECT unreadCount, mentionCount, (SELECT workspaceId FROM room WHERE room.id = member.roomId)
    FROM member INDEXED BY member_by_mute
    WHERE userId = ? AND mutedUntil <= ? AND mutedUntil IS NOT NULL AND unreadCount > 0 AND list = 0
    ORDER BY mutedUntil DESC LIMIT ?
    """

  private func endedMutes(
    of user: UserID, at time: Timestamp
  ) throws -> [(badge: BadgeRow, workspace: WorkspaceID?)] {
    try CachedStatement(database, Self.mutesThatEnded).all(user, time, Self.endedMutes) { row in
      let badge = BadgeRow(unread: try row.unsigned(), mentions: try row.unsigned())
      return (badge: badge, workspace: try row.optional { try $0.id(WorkspaceID.self) })
    }
  }

  /// The columns for `readUnreadParts`, and the workspace.
  static let untrackedRooms = """
    SELECT room.id, room.lastOrdinal, room.deletedCount, \(readThrough), member.joinedOrdinal, room.workspaceId
    FROM member CROSS JOIN room ON room.id = member.roomId
    WHERE member.userId = ? AND member.list IS NULL AND room.archivedPosition IS NULL AND NOT member.isHidden
      AND room.lastOrdinal > \(readThrough) AND (member.mutedUntil IS NULL OR member.mutedUntil <= ?)
    """

  private func untrackedUnread(
    of user: UserID, at time: Timestamp
  ) throws -> [(parts: UnreadParts, workspace: WorkspaceID?)] {
    let blocker = try blocker(user)
    return try CachedStatement(database, Self.untrackedRooms).all(user, time) {
      (
        parts: try Self.readUnreadParts(&$0, leftOutFor: blocker),
        workspace: try $0.optional { try $0.id(WorkspaceID.self) }
      )
    }
  }
}
