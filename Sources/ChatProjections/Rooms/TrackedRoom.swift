package import ChatPrimitives

/// What the row of a tracked member repeats of the room, so that the user's list of rooms is a run of an index and the
/// badge a sum that is kept.
///
/// A message changes these rows, so a room tracks a few of its members and no more: the first ones, and after them users
/// who are in many rooms where they are not tracked. A page of the list, and a badge, look at those rooms of a user one by
/// one where the user is not tracked. Both sides have a limit: a message writes at most `limitWithBusyUsers` rows, and a
/// user has about `untrackedRooms` rooms to look at, unless others have taken the places in the rooms.
package struct TrackedRoom: Sendable, Hashable {
  /// Members that a room always tracks.
  static let limit = 8
  /// Members that a room tracks, with those who are in many rooms.
  static let limitWithBusyUsers = 16
  /// A user who is not tracked in so many rooms counts as busy.
  static let untrackedRooms = 500

  /// In which list of rooms it is. The raw values are in the table.
  package enum List: UInt8, Sendable {
    case open = 0
    case archived = 1
  }

  /// As `RoomRow.activity`.
  package var activity: LogPosition
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
  /// What the room adds to the user's badge, whatever the time. A room that was ever muted and not unmuted since adds
  /// nothing: whether the mute is over depends on the time.
  var badge: BadgeRow {
    guard let tracked, tracked.list == .open, mutedUntil == nil else { return BadgeRow() }
    return BadgeRow(unread: tracked.unreadCount, mentions: tracked.mentionCount)
  }
}
