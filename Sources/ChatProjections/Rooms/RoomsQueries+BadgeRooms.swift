package import ChatPrimitives

/// What one room adds to the badge of a user.
package struct BadgeRoom: Sendable, Hashable {
  package var room: RoomID
  /// Empty for a direct room.
  package var name: String
  package var unreadCount: UInt64
  package var mentionCount: UInt64
  /// The ordinals of the first messages that count as unread, at least one.
  package var firstUnread: [UInt64]
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
  /// The messages of one room that a page names.
  package static let badgeMessagesOfRoom = 20
  /// The messages of all rooms that a page names. When it has so many, it names only the first of each further room. So
  /// there are at most as many more as rooms.
  package static let badgeMessages = 200

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
    var named = 0
    for (index, candidate) in candidates.enumerated() {
      guard index < Self.roomsReadForBadge, page.rooms.count < limit else {
        page.next = last
        break
      }
      last = candidate.activity
      let messages = max(1, min(Self.badgeMessagesOfRoom, Self.badgeMessages - named))
      guard let room = try badgeRoom(candidate.id, of: user, at: time, leftOutFor: blocker, messages: messages) else {
        continue
      }
      page.rooms.append(room)
      named += room.firstUnread.count
    }
    return page
  }

  /// Nil if the room adds nothing to the badge.
  /// - Parameter messages: the maximum number of messages that are named.
  private func badgeRoom(
    _ id: RoomID, of user: UserID, at time: Timestamp, leftOutFor blocker: UserID?, messages: Int
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
      firstUnread: try firstUnread(parts, limit: messages))
  }

  /// Takes one binary search, and for each further bitmap with unread messages another one.
  private func firstUnread(_ parts: UnreadParts, limit: Int) throws -> [UInt64] {
    guard parts.readThrough < parts.lastOrdinal else { return [] }
    guard parts.deletedCount > 0 || parts.leftOutFor != nil else {
      return Array((parts.readThrough + 1...parts.lastOrdinal).prefix(limit))
    }
    var found: [UInt64] = []
    var examined = parts.readThrough
    while found.count < limit, examined < parts.lastOrdinal {
      let first = try firstUnread(after: examined, parts)
      let bucket = OrdinalSet.bucket(of: first, level: 0)
      let left = try uncountedBits(bucket, parts)
      examined = min((bucket + 1) * OrdinalSet.fanout - 1, parts.lastOrdinal)
      found += (first...examined).lazy.filter { left & OrdinalSet.bit(of: $0) == 0 }.prefix(limit - found.count)
    }
    return found
  }

  /// A binary search, so that the number of steps is logarithmic in the number of messages, however many are deleted.
  /// - Returns: the last ordinal if there is no unread message after `ordinal`.
  private func firstUnread(after ordinal: UInt64, _ parts: UnreadParts) throws -> UInt64 {
    let before = try uncounted(through: ordinal, parts)
    var (low, high) = (ordinal + 1, parts.lastOrdinal)
    while low < high {
      let middle = low + (high - low) / 2
      let isCounted = try middle - ordinal > uncounted(through: middle, parts) - before
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

  /// The same for the 64 messages of one bitmap.
  private func uncountedBits(_ bucket: UInt64, _ parts: UnreadParts) throws -> UInt64 {
    let deleted = try OrdinalSet.bitmap(bucket, of: .deletions(in: parts.room), database)
    guard let blocker = parts.leftOutFor else { return deleted }
    return try deleted | OrdinalSet.bitmap(bucket, of: .leftOut(for: blocker, in: parts.room), database)
  }
}
