package import ChatDomain
package import ChatPrimitives

/// Where a message was sent, or last changed after that.
package struct ChangedMessage: Sendable, Hashable {
  package var location: MessageLocation
  package var position: LogPosition
}

extension TimelineQueries {
  /// The messages of a room that changed after they were sent, ordered by position, thread and ordinal. The caller must
  /// have checked that the user may see the room.
  /// - Parameters:
  ///   - position: messages that changed after this position are returned, and those that changed at it if they come
  ///     after `location`.
  ///   - location: nil to return none that changed at `position` itself.
  ///   - target: messages whose last change is up to this position are returned.
  package func changedMessages(
    of room: RoomID, after position: LogPosition, _ location: MessageLocation? = nil, through target: LogPosition,
    limit: Int
  ) throws -> [ChangedMessage] {
    let last = location ?? MessageLocation(thread: UInt64(Int64.max), ordinal: UInt64(Int64.max))
    return try CachedStatement(
      database,
      """
      SELECT thread, ordinal, position FROM messageChange
      WHERE roomId = ? AND (position, thread, ordinal) > (?, ?, ?) AND position <= ?
      ORDER BY position, thread, ordinal LIMIT ?
      """
    ).all(room, position, last, target, limit) {
      try ChangedMessage(
        location: MessageLocation(thread: $0.unsigned(), ordinal: $0.unsigned()), position: $0.position())
    }
  }

  /// The messages that were sent to a room or to one of its threads after a position, in the order in which they were
  /// sent. The caller must have checked that the user may see the room. The cost depends on how many there are, not on
  /// how many messages the room has.
  /// - Parameters:
  ///   - thread: the ordinal of a thread's root; zero for the room's own timeline.
  ///   - position: messages sent after this position are returned.
  ///   - target: messages sent up to this position are returned.
  package func sentMessages(
    to room: RoomID, thread: UInt64 = 0, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [ChangedMessage] {
    guard let first = try firstOrdinal(in: room, thread: thread, after: position) else { return [] }
    return try CachedStatement(
      database,
      """
      SELECT ordinal, position FROM message
      WHERE roomId = ? AND thread = ? AND ordinal >= ? AND position <= ? ORDER BY ordinal LIMIT ?
      """
    ).all(room, thread, first, target, limit) {
      try ChangedMessage(location: MessageLocation(thread: thread, ordinal: $0.unsigned()), position: $0.position())
    }
  }

  /// The ordinal after the last message that was sent up to a position. Nil if no message was sent after it.
  ///
  /// Positions rise with ordinals. So this goes back from the newest message in steps that double, until it has passed
  /// the position, and then halves the last step. A reply whose payload was erased has no row, so each look takes the
  /// newest message at or before an ordinal.
  private func firstOrdinal(in room: RoomID, thread: UInt64, after position: LogPosition) throws -> UInt64? {
    let newest = try CachedStatement(
      database,
      """
      SELECT ordinal, position FROM message WHERE roomId = ? AND thread = ? AND ordinal <= ?
      ORDER BY ordinal DESC LIMIT 1
      """)
    /// The newest message at or before an ordinal, if it was sent after the position.
    func later(_ ordinal: UInt64) throws -> UInt64? {
      let found = try newest.first(room, thread, ordinal) { try (ordinal: $0.unsigned(), position: $0.position()) }
      guard let found, found.position > position else { return nil }
      return found.ordinal
    }
    guard var known = try later(UInt64(Int64.max)) else { return nil }
    var (before, step) = (UInt64(0), UInt64(1))
    while known > 1 {
      let ordinal = known - min(step, known - 1)
      guard let found = try later(ordinal) else {
        before = ordinal
        break
      }
      (known, step) = (found, step * 2)
    }
    // A message at or before `before` was not sent after the position; `known` was.
    while before + 1 < known {
      let middle = before + (known - before) / 2
      if let found = try later(middle) { known = found } else { before = middle }
    }
    return known
  }
}
