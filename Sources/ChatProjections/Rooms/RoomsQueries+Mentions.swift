package import ChatPrimitives

/// Counts mentions without counting rows: how many messages after a marker mention the user, by name or with everyone.
/// Deleted messages are not in the sets. A mention does not count if the user blocked the sender when the message was
/// sent or when the mention was added.
extension RoomsQueries {
  /// - Parameters:
  ///   - marker: counting starts after this ordinal.
  ///   - joined: the room's last ordinal when the user joined. A mention of everyone only counts for those who were
  ///     members.
  ///   - thread: the ordinal of a thread's root; zero for the room's own timeline.
  ///   - blocker: the same user, or nil if the user has never blocked anyone. Then no message is left out.
  package func mentionCount(
    of user: UserID, in room: RoomID, thread: UInt64 = 0, after marker: UInt64, joinedAt joined: UInt64 = 0,
    leftOutFor blocker: UserID?
  ) throws -> UInt64 {
    let start = max(marker, joined)
    var everyone = try OrdinalSet.count(after: start, of: .everyone(in: room, thread: thread), database)
    if everyone > 0, let blocker {
      let unmentioned = try OrdinalSet.count(
        after: start, of: .unmentioned(blocker, in: room, thread: thread), database)
      everyone -= min(everyone, unmentioned)
    }
    return try everyone + OrdinalSet.count(after: marker, of: .mentions(of: user, in: room, thread: thread), database)
  }
}
