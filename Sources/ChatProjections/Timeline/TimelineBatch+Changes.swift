import ChatDomain
import ChatPrimitives

/// Notes where a message changed after it was sent: its text, reactions or pin, or the replies below it. A message that
/// never changed has no row, because its own position says where it was sent.
extension TimelineBatch {
  /// Call this only if the event had an effect on the message.
  func noteChange(at location: MessageLocation, in room: RoomID, _ position: LogPosition) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO messageChange (roomId, thread, ordinal, position) VALUES (?, ?, ?, ?)
      ON CONFLICT (roomId, thread, ordinal) DO UPDATE SET position = excluded.position
      """
    ).run(room, location, position)
  }

  /// A message shows how many replies it has.
  func noteReplies(ofThread root: UInt64, in room: RoomID, _ position: LogPosition) throws {
    try noteChange(at: .room(root), in: room, position)
  }
}
