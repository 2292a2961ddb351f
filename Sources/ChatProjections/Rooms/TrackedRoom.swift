package import ChatPrimitives

/// The copies of a room's values in the row of a tracked member. With them, the user's room list is one range of an
/// index, and the badge is a stored sum.
///
/// Each message changes these rows, so a room only tracks a few of its members: the first ones, and then users who are
/// in many rooms where they are not tracked. A page of the room list, and a badge, read the rooms where the user is not
/// tracked one by one. Both costs are limited: a message writes at most `limitWithBusyUsers` of these rows, and a user
/// has about `untrackedRooms` rooms to read, unless other members are tracked in all of their rooms.
package struct TrackedRoom: Sendable, Hashable {
  /// The number of members that a room always tracks.
  static let limit = 8
  /// The number of members that a room tracks at most, including users who are in many rooms.
  static let limitWithBusyUsers = 16
  /// In how many rooms a user must not be tracked to count as busy.
  static let untrackedRooms = 500

  /// The room list that the room belongs to. The raw values are stored in the table.
  package enum List: UInt8, Sendable {
    case open = 0
    case archived = 1
    /// The user hid the room, which is not archived.
    case hidden = 2
  }

  /// The same as `RoomRow.activity`.
  package var activity: LogPosition
  /// Where the room or the membership last changed: the later of `RoomRow.changed` and `MemberRow.own`.
  package var changed: LogPosition
  package var list = List.open
  package var unreadCount: UInt64 = 0
  package var mentionCount: UInt64 = 0

  /// Whether a user who joins is tracked.
  /// - Parameters:
  ///   - tracked: how many members the room tracks.
  ///   - untracked: in how many rooms the user is not tracked.
  static func isTracked(inRoomWith tracked: Int, userWith untracked: () throws -> UInt64) rethrows -> Bool {
    if tracked < limit { return true }
    guard tracked < limitWithBusyUsers else { return false }
    return try untracked() >= untrackedRooms
  }
}

extension MemberRow {
  /// What the room adds to the user's stored badge. A room that was muted and not unmuted since adds nothing, because
  /// whether the mute has expired depends on the time.
  var badge: BadgeRow {
    guard let tracked, tracked.list == .open, mutedUntil == nil else { return BadgeRow() }
    return BadgeRow(unread: tracked.unreadCount, mentions: tracked.mentionCount)
  }
}
