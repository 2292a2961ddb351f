package import ChatPrimitives

/// An unread message in the explanation of a badge.
package struct UnreadMessageRow: Sendable, Hashable {
  package var id: MessageID
  package var sender: UserID
  package var sentAt: Timestamp
  package var position: LogPosition
}

extension TimelineQueries {
  /// Messages of the room's own timeline, without their texts, so that the cost does not depend on how long these are. Empty
  /// if the user is not a member.
  package func unreadMessages(
    _ ordinals: [UInt64], of room: RoomID, for user: UserID
  ) throws -> [UnreadMessageRow] {
    guard try mayRead(room, user) else { return [] }
    let message = try CachedStatement(
      database,
      "SELECT messageId, sender, sentAt, position FROM message WHERE roomId = ? AND thread = 0 AND ordinal = ?")
    return try ordinals.compactMap { ordinal in
      try message.first(room, ordinal) { row in
        try UnreadMessageRow(
          id: row.id(), sender: row.id(), sentAt: row.time(), position: row.position())
      }
    }
  }
}
