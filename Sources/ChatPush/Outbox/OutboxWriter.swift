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

  /// Whether push was ever switched on. The first event with outcomes does that.
  func isSwitchedOn() throws -> Bool { try PushQueries(database).settledThrough() != nil }

  /// Adds a row for each device that has to be notified, and one row for what they share.
  /// - Parameters:
  ///   - decisions: one for each device of the recipients, in their order.
  /// - Returns: how many rows were added for devices.
  func add(
    _ event: PushEvent, _ decisions: [FanOut.DeviceDecision], for recipients: [FanOut.Recipient], _ rooms: RoomsQueries
  ) throws -> Int {
    var rows = 0
    for (decision, device) in zip(decisions, recipients.lazy.flatMap(\.devices)) {
      guard case .notify(let delivery) = decision.decision, let provider = device.provider else { continue }
      if rows == 0 { try add(try PushContent(event, rooms), of: event) }
      rows += 1
      // The provider selects the queue in which the notification waits. It stays the same if the device gets a token of
      // another provider, so that no queue misses a row.
      try CachedStatement(
        database,
        """
        INSERT INTO outbox (position, userId, deviceId, kind, isQuiet, showsPreview, provider)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """
      ).run(
        event.position, decision.user, decision.device, Int64(delivery.kind.rawValue), delivery.isQuiet,
        delivery.showsPreview, Int64(provider.rawValue))
    }
    return rows
  }

  private func add(_ content: PushContent, of event: PushEvent) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO pushContent (
        position, \(PushQueries.contentColumns), isDeleted
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
      """
    ).run(
      event.position, content.time, content.room, content.workspace, content.message, content.thread,
      content.location?.thread, content.location?.ordinal, content.sender, content.clearedThrough, content.spaceName,
      content.senderNickname, content.emoji, content.attachment?.contentType, content.attachment?.name,
      content.custom?.type, content.custom?.body, content.text)
  }

  /// Notifications that are still waiting use the current text of the message. After a deletion, the row keeps no content
  /// of the message, and only silent notifications are still sent. After a reaction is removed, too, only silent ones are
  /// sent; its content stays. `BulkDeletion` removes the contents of a deleted room.
  func apply(_ event: RoomEvent, in room: RoomID) throws {
    switch event {
    case .messages(.edited(let message, _, let edit)):
      try self.edit(message, edit ?? .plain(""), in: room)
    case .messages(.deleted(let message, _)):
      try CachedStatement(
        database,
        """
        UPDATE pushContent
        SET isDeleted = 1, text = '', emoji = NULL, fileType = NULL, fileName = NULL, customType = NULL, customBody = NULL
        WHERE roomId = ? AND messageId = ?
        """
      ).run(room, message)
    case .annotations(.reactionRemoved(let message, _, let user, let emoji)):
      try CachedStatement(
        database,
        """
        UPDATE pushContent SET isDeleted = 1
        WHERE roomId = ?1 AND messageId = ?2 AND sender = ?3 AND (emoji = ?4 OR ?4 = '' AND emoji IS NOT NULL)
        """
      ).run(room, message, user, emoji)
    case .lifecycle, .sharing, .members, .messages(.sent), .annotations(.reactionAdded), .annotations(.pinned),
      .annotations(.unpinned), .reading, .threads, .scheduling, .reports, .erased:
      break
    }
  }

  private func edit(_ message: MessageID, _ edit: MessageEdit, in room: RoomID) throws {
    if let text = edit.text {
      try CachedStatement(
        database, "UPDATE pushContent SET text = ? WHERE roomId = ? AND messageId = ? AND ordinal IS NOT NULL"
      ).run(text.beginning(ofBytes: PushContent.textBytes), room, message)
    }
    if let customBody = edit.customBody {
      try CachedStatement(
        database, "UPDATE pushContent SET customBody = ? WHERE roomId = ? AND messageId = ? AND customType IS NOT NULL"
      ).run(customBody, room, message)
    }
  }

  /// - Returns: true if the event records outcomes.
  func apply(_ event: ServerEvent, at position: LogPosition) throws -> Bool {
    switch event {
    case .pushOutcomesRecorded(let outcomes):
      try removeSettled(outcomes)
      return true
    case .signingKeyRotated, .legalHoldPlaced, .legalHoldLifted, .erased:
      return false
    }
  }

  /// This does not truncate the write-ahead log, because a text that is removed here can belong to a message that still
  /// exists. The deletion of the message, before or after this, truncates it (`WALTruncation`).
  private func removeSettled(_ outcomes: PushOutcomes) throws {
    for sql in ["DELETE FROM outbox WHERE position <= ?", "DELETE FROM pushContent WHERE position <= ?"] {
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

extension PushContent {
  /// - Parameter rooms: must include the event and nothing after it.
  init(_ event: PushEvent, _ rooms: RoomsQueries) throws {
    let space: String? =
      if case .invitation(let workspace, _) = event.change {
        try rooms.workspace(workspace)?.name
      } else {
        try event.room.flatMap { try rooms.room($0)?.name }
      }
    let nickname = try event.actor.flatMap { try rooms.profiles(of: [$0])[$0]?.nickname }
    self.init(event, spaceName: space ?? "", senderNickname: nickname ?? "")
    switch event.change {
    case .message(let room, let message):
      location = try rooms.newestMessage(in: room, thread: message.thread?.ordinal ?? 0)
    case .reading(let room, _, _, let thread?): self.thread = try rooms.root(ofThread: thread, in: room)
    case .reading, .reaction, .deletion, .added, .departed, .invitation, .room, .blocks: break
    }
  }
}
