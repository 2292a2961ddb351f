package import ChatDomain
package import ChatPrimitives

/// Where a message last changed after it was sent.
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
}
