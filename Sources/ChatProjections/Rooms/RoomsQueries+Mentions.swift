package import ChatPrimitives

/// Mention counts, never by counting rows: of the messages after a marker, how many call the user, alone or with
/// everyone, less those of them that are deleted, which leave the sets.
extension RoomsQueries {
  /// - Parameters:
  ///   - marker: what the user has read; counting starts after it.
  ///   - joined: the room's last ordinal at the user's join: who calls everyone calls those who are there.
  ///   - thread: the ordinal of a thread's root; zero for the room's own timeline.
  package func mentionCount(
    of user: UserID, in room: RoomID, thread: UInt64 = 0, after marker: UInt64, joinedAt joined: UInt64 = 0
  ) throws -> UInt64 {
    let everyone = try OrdinalSet.count(
      after: max(marker, joined), of: .everyone(in: room, thread: thread), database)
    return try everyone + OrdinalSet.count(after: marker, of: .mentions(of: user, in: room, thread: thread), database)
  }
}
