package import ChatDomain
package import ChatPrimitives

extension RoomsQueries {
  /// How many messages after a marker mention the user, by name or with everyone, without counting rows. Deleted messages
  /// are not in the sets. A mention does not count if the user blocked the sender when the message was sent or when the
  /// mention was added.
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

  /// The stored mentions of a message: either everyone, or the named users who had not blocked the author. A deleted message
  /// has none.
  package func mentions(at location: MessageLocation, in room: RoomID) throws -> Mentions {
    let users = try CachedStatement(
      database, "SELECT userId FROM mention WHERE roomId = ? AND thread = ? AND ordinal = ? ORDER BY userId"
    ).all(room, location) { try $0.uuid() }
    return Mentions(users: users.filter { $0 != .zero }.map { UserID($0) }, everyone: users.first == .zero)
  }
}
