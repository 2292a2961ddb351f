import ChatDomain
import ChatPrimitives
import ChatProjections
import GRDB

/// Adds rows to the outbox, and removes those with recorded outcomes.
struct OutboxWriter {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Whether outcomes were ever recorded.
  func isSwitchedOn() throws -> Bool { try PushQueries(database).settledThrough() != nil }

  /// Adds a row for each device that has to be notified, and one row for the message.
  /// - Returns: how many rows were added for devices.
  func add(
    _ message: FanOut.SentMessage, in context: FanOut.RoomContext, _ decisions: [FanOut.DeviceDecision],
    roomName: String,
    _ rooms: RoomsQueries
  ) throws -> Int {
    var rows = 0
    for decision in decisions {
      guard case .notify(let badge) = decision.decision else { continue }
      if rows == 0 { try add(message, roomName: roomName, rooms) }
      rows += 1
      // The provider selects the lane in which the notification waits. It stays the same if the device gets a token of
      // another provider, so that no lane misses a row. The order is that of `PushQueries.readDevice`.
      try CachedStatement(
        database,
        """
        INSERT INTO outbox (position, userId, deviceId, badge, isMentioned, provider) VALUES (
          ?1, ?2, ?3, ?4, ?5, (
            SELECT CASE WHEN apnsToken IS NOT NULL THEN 1 WHEN fcmToken IS NOT NULL THEN 2 ELSE 3 END
            FROM pushDevice WHERE userId = ?2 AND deviceId = ?3))
        """
      ).run(message.position, decision.user, decision.device, badge, message.isMention(of: decision.user, in: context))
    }
    return rows
  }

  private func add(_ message: FanOut.SentMessage, roomName: String, _ rooms: RoomsQueries) throws {
    let nickname = try rooms.nicknames(of: [message.sender])[message.sender] ?? ""
    try CachedStatement(
      database,
      """
      INSERT INTO notificationMessage (
        position, roomId, messageId, sender, threadId, sentAt, roomName, senderNickname, text
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      message.position, message.room, message.message, message.sender, message.thread?.message, message.time, roomName,
      nickname, PushNotificationMessage.beginning(of: message.text ?? "", bytes: PushNotification.textBytes))
  }

  /// Notifications that are still waiting use the current text of the message. For a deleted message only the rows of
  /// the outbox stay, so that each notification still gets an outcome. `BulkDeletion` removes the messages of a deleted
  /// room.
  func apply(_ event: RoomEvent, in room: RoomID) throws {
    switch event {
    case .messages(.edited(let message, _, let edit)):
      try CachedStatement(database, "UPDATE notificationMessage SET text = ? WHERE roomId = ? AND messageId = ?")
        .run(PushNotificationMessage.beginning(of: edit?.text ?? "", bytes: PushNotification.textBytes), room, message)
    case .messages(.deleted(let message, _)):
      try CachedStatement(database, "DELETE FROM notificationMessage WHERE roomId = ? AND messageId = ?")
        .run(room, message)
    case .lifecycle, .sharing, .members, .messages(.sent), .annotations, .reading, .threads, .scheduling, .reports,
      .erased:
      break
    }
  }

  /// - Returns: true if the event records outcomes.
  func apply(_ event: ServerEvent, at position: LogPosition) throws -> Bool {
    switch event {
    case .pushOutcomesRecorded(let outcomes):
      try removeSettled(outcomes)
      return true
    case .signingKeyRotated, .erased:
      return false
    }
  }

  /// The write-ahead log is not truncated here, because the texts removed here belong to messages that still exist.
  /// When such a message is deleted, before or after this, that event has the log truncated (`WALTruncation`).
  private func removeSettled(_ outcomes: PushOutcomes) throws {
    for sql in ["DELETE FROM outbox WHERE position <= ?", "DELETE FROM notificationMessage WHERE position <= ?"] {
      try CachedStatement(database, sql).run(outcomes.settledThrough)
    }
    let single = try CachedStatement(
      database, "DELETE FROM outbox WHERE position = ? AND userId = ? AND deviceId = ?")
    for outcome in outcomes.outcomes where outcome.position > outcomes.settledThrough {
      try single.run(outcome.position, outcome.user, outcome.device)
    }
    try CachedStatement(
      database,
      """
      INSERT INTO settlement (id, settledThrough) VALUES (1, ?)
      ON CONFLICT (id) DO UPDATE SET settledThrough = max(settledThrough, excluded.settledThrough)
      """
    ).run(outcomes.settledThrough)
  }
}
