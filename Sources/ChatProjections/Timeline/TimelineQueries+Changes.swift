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
    ).all(room, position, last, target, limit, read: Self.readChanged)
  }

  /// The messages that were sent to a room's own timeline after a position, in the order in which they were sent. The
  /// caller must have checked that the user may see the room. The cost depends on how many there are, not on how many
  /// messages the room has.
  /// - Parameters:
  ///   - position: messages sent after this position are returned.
  ///   - target: messages sent up to this position are returned.
  package func sentMessages(
    to room: RoomID, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [ChangedMessage] {
    guard let first = try firstOrdinal(in: room, after: position) else { return [] }
    return try CachedStatement(
      database,
      """
      SELECT ordinal, position FROM message
      WHERE roomId = ? AND thread = 0 AND ordinal >= ? AND position <= ? ORDER BY ordinal LIMIT ?
      """
    ).all(room, first, target, limit) {
      try ChangedMessage(location: .room($0.unsigned()), position: $0.position())
    }
  }

  /// The replies that were sent to all threads of a room after a position, in the order in which they were sent. The
  /// caller must have checked that the user may see the room.
  /// - Parameters:
  ///   - position: replies sent after this position are returned.
  ///   - target: replies sent up to this position are returned.
  package func sentReplies(
    to room: RoomID, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [ChangedMessage] {
    try CachedStatement(
      database,
      """
      SELECT thread, ordinal, position FROM message INDEXED BY reply_by_position
      WHERE roomId = ? AND thread > 0 AND position > ? AND position <= ? ORDER BY position LIMIT ?
      """
    ).all(room, position, target, limit, read: Self.readChanged)
  }

  private static func readChanged(_ row: inout RowReader) throws -> ChangedMessage {
    try ChangedMessage(
      location: MessageLocation(thread: row.unsigned(), ordinal: row.unsigned()), position: row.position())
  }

  /// All messages of a room in the order of their locations: its own timeline, then one thread after the other. The caller
  /// must have checked that the user may see the room.
  /// - Parameter location: messages after this are returned; nil to begin with the first.
  package func locations(
    in room: RoomID, after location: MessageLocation?, limit: Int
  ) throws -> [MessageLocation] {
    try CachedStatement(
      database,
      """
      SELECT thread, ordinal FROM message WHERE roomId = ? AND (thread, ordinal) > (?, ?) ORDER BY thread, ordinal LIMIT ?
      """
    ).all(room, location ?? .room(0), limit) { try MessageLocation(thread: $0.unsigned(), ordinal: $0.unsigned()) }
  }

  /// The messages of a run, and where each was sent or last changed. The caller must have checked that the user may see
  /// the room.
  /// - Parameter ordinals: a range in one thread, or in the room's own timeline if `thread` is zero.
  package func changedContents(
    of room: RoomID, thread: UInt64, _ ordinals: ClosedRange<UInt64>, for user: UserID
  ) throws -> [(message: ShownMessage, position: LogPosition)] {
    let rows = try messages(of: room, thread: thread, ordinals)
    let annotations = try annotations(of: rows, in: room, thread: thread, ordinals, for: user)
    let blocked = try Blocks.blocked(among: rows.lazy.map(\.sender), by: user, database)
    let threadID = try threadID(thread, in: room)
    let changes = try CachedStatement(
      database,
      "SELECT ordinal, position FROM messageChange WHERE roomId = ? AND thread = ? AND ordinal BETWEEN ? AND ?"
    ).all(room, thread, ordinals.lowerBound, ordinals.upperBound) { try ($0.unsigned(), $0.position()) }
    let changed = Dictionary(uniqueKeysWithValues: changes)
    return rows.map { row in
      let message = ShownMessage(
        row: row, threadID: threadID, annotations: annotations[row.ordinal] ?? MessageAnnotations(),
        isFromBlockedUser: blocked.contains(row.sender))
      return (message, changed[row.ordinal] ?? row.position)
    }
  }

  /// The message that was sent to a room's own timeline at a position, as everyone sees it who does not block its author.
  /// Nil if it changed since, or was deleted.
  package func unchangedMessage(
    sentAt position: LogPosition, to room: RoomID, by author: UserID
  ) throws -> ShownMessage? {
    guard let ordinal = try firstOrdinal(in: room, after: LogPosition(position.value - 1)) else { return nil }
    // A message that never changed has no annotations that differ for each reader.
    let found = try changedContents(of: room, thread: 0, ordinal...ordinal, for: author)
    return found.first { $0.message.row.position == position && $0.position == position }?.message
  }

  /// The ordinal after the last message that was sent up to a position. Nil if no message was sent after it.
  ///
  /// Positions rise with ordinals. So this goes back from the newest message in steps that double, until it has passed
  /// the position, and then halves the last step. Each look takes the newest message at or before an ordinal.
  func firstOrdinal(in room: RoomID, after position: LogPosition) throws -> UInt64? {
    let newest = try CachedStatement(
      database,
      """
      SELECT ordinal, position FROM message WHERE roomId = ? AND thread = 0 AND ordinal <= ?
      ORDER BY ordinal DESC LIMIT 1
      """)
    /// The newest message at or before an ordinal, if it was sent after the position.
    func later(_ ordinal: UInt64) throws -> UInt64? {
      let found = try newest.first(room, ordinal) { try (ordinal: $0.unsigned(), position: $0.position()) }
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
