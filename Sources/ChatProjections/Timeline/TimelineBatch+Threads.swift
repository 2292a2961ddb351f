import ChatDomain
import ChatPrimitives
import GRDB

/// The summary of a thread: the number of replies, the time of the newest, and the participants.
extension TimelineBatch {
  func countReply(_ thread: ThreadLocation, by author: UserID, in room: RoomID, _ recorded: RecordedEvent) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO thread (roomId, root, lastOrdinal, replies, lastReplyAt) VALUES (?, ?, ?, 1, ?)
      ON CONFLICT (roomId, root) DO UPDATE SET
        lastOrdinal = MAX(lastOrdinal, excluded.lastOrdinal), replies = replies + 1, lastReplyAt = excluded.lastReplyAt
      """
    ).run(room, thread.root.ordinal, thread.ordinal, recorded.occurredAt)
    try CachedStatement(
      database,
      """
      INSERT INTO threadParticipant (roomId, root, userId, firstOrdinal, replies) VALUES (?, ?, ?, ?, 1)
      ON CONFLICT (roomId, root, userId) DO UPDATE SET replies = replies + 1
      """
    ).run(room, thread.root.ordinal, author, thread.ordinal)
  }

  /// A user whose last reply is deleted is no longer a participant.
  func discountReply(_ location: MessageLocation, by author: UserID, in room: RoomID) throws {
    try CachedStatement(database, "UPDATE thread SET replies = replies - 1 WHERE roomId = ? AND root = ?")
      .run(room, location.thread)
    for statement in [
      "UPDATE threadParticipant SET replies = replies - 1 WHERE roomId = ? AND root = ? AND userId = ?",
      "DELETE FROM threadParticipant WHERE roomId = ? AND root = ? AND userId = ? AND replies = 0",
    ] {
      try CachedStatement(database, statement).run(room, location.thread, author)
    }
  }
}
