import ChatDomain
import ChatPrimitives
import EventStore
import GRDB

/// Additions to a message: its reactions, its pin, its earlier texts and its type.
extension TimelineBatch {
  // MARK: - Reactions

  /// A repeated reaction of the same user with the same emoji changes nothing.
  func react(
    _ emoji: String, by user: UserID, at location: MessageLocation, in room: RoomID, _ recorded: RecordedEvent
  ) throws {
    guard try existsUndeleted(location, in: room) else { return }
    let inserted = try CachedStatement(
      database,
      """
      INSERT INTO reaction (roomId, thread, ordinal, emoji, userId, position, reactedAt) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (roomId, thread, ordinal, emoji, userId) DO NOTHING
      """
    ).run(room, location, emoji, user, recorded.position, recorded.occurredAt)
    guard inserted > 0 else { return }
    try CachedStatement(
      database,
      """
      INSERT INTO reactionCount (roomId, thread, ordinal, emoji, firstPosition, count) VALUES (?, ?, ?, ?, ?, 1)
      ON CONFLICT (roomId, thread, ordinal, emoji) DO UPDATE SET count = count + 1
      """
    ).run(room, location, emoji, recorded.position)
    try noteChange(at: location, in: room, recorded.position)
  }

  func unreact(
    _ emoji: String, by user: UserID, at location: MessageLocation, in room: RoomID, _ position: LogPosition
  ) throws {
    let removed = try CachedStatement(
      database,
      """
      DELETE FROM reaction WHERE roomId = ? AND thread = ? AND ordinal = ? AND emoji = ? AND userId = ?
      RETURNING position
      """
    ).first(room, location, emoji, user) { try $0.position() }
    guard let removed else { return }
    for statement in [
      "UPDATE reactionCount SET count = count - 1 WHERE roomId = ? AND thread = ? AND ordinal = ? AND emoji = ?",
      "DELETE FROM reactionCount WHERE roomId = ? AND thread = ? AND ordinal = ? AND emoji = ? AND count = 0",
    ] {
      try CachedStatement(database, statement).run(room, location, emoji)
    }
    try passOnFirst(removed, of: emoji, at: location, in: room)
    try noteChange(at: location, in: room, position)
  }

  /// The first of the reactions that are left determines the order of the emojis. So nothing depends on a reaction that
  /// was removed: a rebuilt read model may never have had it.
  private func passOnFirst(
    _ removed: LogPosition, of emoji: String, at location: MessageLocation, in room: RoomID
  ) throws {
    try CachedStatement(
      database,
      """
      UPDATE reactionCount SET firstPosition = (
        SELECT MIN(position) FROM reaction
        WHERE roomId = ?1 AND thread = ?2 AND ordinal = ?3 AND emoji = ?4)
      WHERE roomId = ?1 AND thread = ?2 AND ordinal = ?3 AND emoji = ?4 AND firstPosition = ?5
      """
    ).run(room, location, emoji, removed)
  }

  /// Removes the reactions of a deleted user. The change is noted even if there is none, because a rebuilt read model
  /// may never have had one.
  func unreactAll(by user: UserID, at location: MessageLocation, in room: RoomID, _ position: LogPosition) throws {
    let kinds = try CachedStatement(
      database, "SELECT emoji FROM reaction WHERE roomId = ? AND thread = ? AND ordinal = ? AND userId = ?"
    ).all(room, location, user) { try $0.text() }
    for emoji in kinds { try unreact(emoji, by: user, at: location, in: room, position) }
    if try existsUndeleted(location, in: room) { try noteChange(at: location, in: room, position) }
  }

  // MARK: - Pins

  /// If the message is already pinned, the first pin is kept.
  func pin(_ message: MessageID, at location: MessageLocation, in room: RoomID, _ recorded: RecordedEvent) throws {
    guard try existsUndeleted(location, in: room) else { return }
    let pinned = try CachedStatement(
      database,
      """
      INSERT INTO pin (roomId, thread, ordinal, messageId, position, time, pinnedAt, pinnedBy)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (roomId, thread, ordinal) DO NOTHING
      """
    ).run(room, location, message, recorded.stamp, recorded.occurredAt, recorded.actor)
    if pinned > 0 { try noteChange(at: location, in: room, recorded.position) }
  }

  func unpin(at location: MessageLocation, in room: RoomID, _ position: LogPosition) throws {
    guard try remove("pin", at: location, in: room) > 0 else { return }
    try noteChange(at: location, in: room, position)
  }

  // MARK: - Earlier texts

  /// Stores the text and the mentions that an edit is about to replace.
  func keepRevision(_ message: MessageRow) throws {
    let (mentions, custom) = (message.details?.mentions ?? Mentions(), message.details?.custom)
    let bytes =
      mentions.isEmpty && custom == nil
      ? nil : try DetailsCodec.encode(MessageDetails(mentions: mentions, custom: custom))
    try CachedStatement(
      database,
      """
      INSERT INTO revision (roomId, thread, ordinal, position, writtenAt, details, text) VALUES (?, ?, ?, ?, ?, ?, ?)
      """
    ).run(message.room, message.location, message.revision, message.editedAt ?? message.sentAt, bytes, message.text)
  }

  // MARK: - Types

  /// Enters the message in the index of messages with an app's own type.
  func note(_ type: String, of location: MessageLocation, in room: RoomID) throws {
    try CachedStatement(database, "INSERT INTO typedMessage (roomId, thread, ordinal, type) VALUES (?, ?, ?, ?)")
      .run(room, location, type)
  }

  func removeType(_ type: String, of location: MessageLocation, in room: RoomID) throws {
    try CachedStatement(
      database, "DELETE FROM typedMessage WHERE roomId = ? AND thread = ? AND ordinal = ? AND type = ?"
    ).run(room, location, type)
  }

  // MARK: - Deletion

  func removeAdditions(at location: MessageLocation, in room: RoomID) throws {
    for table in ["reaction", "reactionCount", "pin", "revision"] { try remove(table, at: location, in: room) }
  }

  /// - Returns: the number of rows that were removed.
  @discardableResult
  private func remove(_ table: String, at location: MessageLocation, in room: RoomID) throws -> Int {
    try CachedStatement(database, "DELETE FROM \(table) WHERE roomId = ? AND thread = ? AND ordinal = ?")
      .run(room, location)
  }

  /// Whether the message exists and is not deleted.
  private func existsUndeleted(_ location: MessageLocation, in room: RoomID) throws -> Bool {
    try CachedStatement(
      database,
      "SELECT 1 FROM message WHERE roomId = ? AND thread = ? AND ordinal = ? AND deletedAt IS NULL"
    ).exists(room, location)
  }
}
