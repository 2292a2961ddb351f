package import ChatDomain
package import ChatPrimitives

package struct BanRow: Sendable, Hashable {
  package var user: UserID
  package var banned: Stamp
  /// Nil if a service banned the user on its own behalf.
  package var banner: UserID?
}

/// Bans, newest first.
package struct BanPage: Sendable, Hashable {
  package var bans: [BanRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

package struct JoinHistoryRow: Sendable, Hashable {
  package var position: LogPosition
  package var time: Timestamp
  package var user: UserID
  package var change: MembershipChange
  /// The role with which the user joined, or the new role. Nil for the other changes.
  package var role: Role?
  /// Nil if a service made the change on its own behalf.
  package var actor: UserID?
}

/// The changes of a room's memberships, newest first.
package struct JoinHistoryPage: Sendable, Hashable {
  package var entries: [JoinHistoryRow]
  package var profiles: [UserID: Profile]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

extension RoomsQueries {
  package func isBanned(_ user: UserID, from room: RoomID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM ban WHERE roomId = ? AND userId = ?").exists(room, user)
  }

  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func bans(of room: RoomID, after cursor: LogPosition? = nil, limit: Int) throws -> BanPage {
    // A room has so few bans that they can be sorted without an index.
    let found = try CachedStatement(
      database,
      """
      SELECT userId, position, time, banner FROM ban WHERE roomId = ? AND position < ?
      ORDER BY position DESC LIMIT ?
      """
    ).all(room, cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit + 1) {
      try BanRow(user: $0.id(), banned: $0.stamp(), banner: $0.optional { try $0.id() })
    }
    let bans = Array(found.prefix(limit))
    return BanPage(
      bans: bans, profiles: try profiles(of: bans.flatMap { [$0.user, $0.banner].compactMap { $0 } }),
      next: found.count > limit ? bans.last?.banned.position : nil)
  }

  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func joinHistory(
    of room: RoomID, before cursor: LogPosition? = nil, limit: Int
  ) throws -> JoinHistoryPage {
    let found = try CachedStatement(
      database,
      """
      SELECT position, time, userId, change, role, actor FROM joinHistory WHERE roomId = ? AND position < ?
      ORDER BY position DESC LIMIT ?
      """
    ).all(room, cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit + 1) { row in
      try JoinHistoryRow(
        position: row.position(), time: row.time(), user: row.id(), change: row.choice(),
        role: row.optional { try $0.choice() }, actor: row.optional { try $0.id() })
    }
    let entries = Array(found.prefix(limit))
    return JoinHistoryPage(
      entries: entries, profiles: try profiles(of: entries.flatMap { [$0.user, $0.actor].compactMap { $0 } }),
      next: found.count > limit ? entries.last?.position : nil)
  }
}

extension RoomsQueries {
  /// Whether the user is or was ever a member of the room.
  package func hasBeenMember(_ user: UserID, of room: RoomID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM joinHistory WHERE roomId = ? AND userId = ? LIMIT 1")
      .exists(room, user)
  }
}
