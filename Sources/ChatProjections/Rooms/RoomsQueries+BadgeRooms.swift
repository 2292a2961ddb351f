package import ChatPrimitives

/// What one room adds to the badge of a user.
package struct BadgeRoom: Sendable, Hashable {
  package var room: RoomID
  /// Empty for a direct room.
  package var name: String
  package var unreadCount: UInt64
  package var mentionCount: UInt64
  /// The ordinal of the first message that counts as unread.
  package var firstUnread: UInt64
}

/// The rooms that a badge consists of, latest activity first.
package struct BadgeRoomPage: Sendable, Hashable {
  package var badge: BadgeRow
  package var rooms: [BadgeRoom]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

extension RoomsQueries {
  /// The maximum number of rooms that a page reads to find unread ones. So its cost does not grow with the number of the
  /// user's rooms, but it may have fewer rooms than asked for, or none, and still a next page.
  static let roomsReadForBadge = 500

  /// The rooms with unread messages that are neither archived nor hidden, nor muted at `time`. All pages together add up to the
  /// badge, unless something changes meanwhile or the user has more than `endedMutes` unread rooms whose mute has
  /// expired.
  /// - Parameters:
  ///   - cursor: `next` of the previous page; nil for the first.
  ///   - limit: the maximum number of rooms.
  package func badgeRooms(
    of user: UserID, at time: Timestamp, after cursor: LogPosition? = nil, limit: Int
  ) throws -> BadgeRoomPage {
    var page = BadgeRoomPage(badge: try badges(of: user, at: time), rooms: [], next: nil)
    let candidates = try rooms(of: user, in: [.open], after: cursor, limit: Self.roomsReadForBadge + 1)
    let blocker = try blocker(user)
    var last: LogPosition?
    for (index, candidate) in candidates.enumerated() {
      guard index < Self.roomsReadForBadge, page.rooms.count < limit else {
        page.next = last
        break
      }
      last = candidate.activity
      guard let room = try badgeRoom(candidate.id, of: user, at: time, leftOutFor: blocker) else { continue }
      page.rooms.append(room)
    }
    return page
  }

  /// Nil if the room adds nothing to the badge.
  private func badgeRoom(
    _ id: RoomID, of user: UserID, at time: Timestamp, leftOutFor blocker: UserID?
  ) throws -> BadgeRoom? {
    guard let member = try member(user, of: id) else { return nil }
    if let until = member.mutedUntil, until > time { return nil }
    // The row of the room is read only if it is needed, because it contains a text.
    if member.tracked?.unreadCount == 0 { return nil }
    guard let room = try room(id) else { return nil }
    let counts: (unread: UInt64, mentions: UInt64) =
      if let tracked = member.tracked {
        (tracked.unreadCount, tracked.mentionCount)
      } else {
        try counted(member, in: room)
      }
    guard counts.unread > 0 else { return nil }
    let parts = UnreadParts(
      room: id, lastOrdinal: room.lastOrdinal, deletedCount: room.deletedCount, readThrough: member.readThrough,
      joinedOrdinal: member.joinedOrdinal, leftOutFor: blocker)
    return BadgeRoom(
      room: id, name: room.name, unreadCount: counts.unread, mentionCount: counts.mentions,
      firstUnread: try firstUnread(parts))
  }

  /// A binary search, so that the number of steps is logarithmic in the number of messages, however many are deleted.
  private func firstUnread(_ parts: UnreadParts) throws -> UInt64 {
    guard parts.deletedCount > 0 || parts.leftOutFor != nil else { return parts.readThrough + 1 }
    let readOut = try uncounted(through: parts.readThrough, parts)
    var (low, high) = (parts.readThrough + 1, parts.lastOrdinal)
    while low < high {
      let middle = low + (high - low) / 2
      let isCounted = try middle - parts.readThrough > uncounted(through: middle, parts) - readOut
      (low, high) = isCounted ? (low, middle) : (middle + 1, high)
    }
    return low
  }

  /// How many messages up to `ordinal` are deleted or do not count for the user. The two sets have no message in common.
  private func uncounted(through ordinal: UInt64, _ parts: UnreadParts) throws -> UInt64 {
    let deleted = try OrdinalSet.count(through: ordinal, of: .deletions(in: parts.room), database)
    guard let blocker = parts.leftOutFor else { return deleted }
    return try deleted + OrdinalSet.count(through: ordinal, of: .leftOut(for: blocker, in: parts.room), database)
  }
}
