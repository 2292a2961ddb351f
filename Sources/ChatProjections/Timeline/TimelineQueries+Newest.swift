package import ChatDomain
package import ChatPrimitives

/// The newest messages of a room's own timeline. The caller must have checked that the user may see the room. Messages that
/// were sent after the given position are skipped one by one, so it should be near the newest.
extension TimelineQueries {
  /// The messages that were sent in a range of positions, newest first.
  /// - Parameters:
  ///   - position: messages sent after this position are returned.
  ///   - target: messages sent up to this position are returned.
  package func newestMessages(
    of room: RoomID, after position: LogPosition, through target: LogPosition, limit: Int
  ) throws -> [ChangedMessage] {
    // Stops at the first message that is too old: a condition in SQL would read on to the beginning of the room.
    var found: [ChangedMessage] = []
    guard limit > 0 else { return found }
    try CachedStatement(
      database,
      """
      SELECT ordinal, position FROM message WHERE roomId = ? AND thread = 0 AND position <= ? ORDER BY ordinal DESC
      """
    ).readWhile(room, target) { row in
      let sent = ChangedMessage(location: .room(try row.unsigned()), position: try row.position())
      guard sent.position > position else { return false }
      found.append(sent)
      return found.count < limit
    }
    return found
  }

  /// The newest message that was sent up to a position.
  package func lastMessage(of room: RoomID, sentThrough position: LogPosition) throws -> MessageID? {
    let ordinal = try firstOrdinal(in: room, after: position) ?? UInt64(Int64.max)
    return try CachedStatement(
      database,
      "SELECT messageId FROM message WHERE roomId = ? AND thread = 0 AND ordinal < ? ORDER BY ordinal DESC LIMIT 1"
    ).first(room, ordinal) { try $0.id() }
  }

  /// Where messages were sent or last changed, in the order of ordinals.
  /// - Parameters:
  ///   - first: the ordinal of the first message.
  ///   - target: messages sent up to this position are returned.
  package func revisions(
    in room: RoomID, from first: UInt64, sentThrough target: LogPosition
  ) throws -> [ChangedMessage] {
    try CachedStatement(
      database,
      """
      SELECT message.ordinal, IFNULL(messageChange.position, message.position) FROM message
      LEFT JOIN messageChange ON messageChange.roomId = message.roomId AND messageChange.thread = 0
        AND messageChange.ordinal = message.ordinal
      WHERE message.roomId = ? AND message.thread = 0 AND message.ordinal >= ? AND message.position <= ?
      ORDER BY message.ordinal
      """
    ).all(room, first, target) { try ChangedMessage(location: .room($0.unsigned()), position: $0.position()) }
  }
}
