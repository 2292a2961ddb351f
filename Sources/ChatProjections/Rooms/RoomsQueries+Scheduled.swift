package import ChatDomain
package import ChatPrimitives
import EventStore

/// Scheduled messages.
extension RoomsQueries {
  static let scheduledColumns = """
    roomId, messageId, scheduledPosition, scheduledTime, revision, failure, failedPosition, failedTime, content
    """

  /// The rows of a deleted room are removed gradually. This condition hides them until then.
  private static let isInRoom = "EXISTS (SELECT 1 FROM room WHERE room.id = scheduled.roomId)"

  static func readScheduled(_ row: inout RowReader) throws -> ScheduledRow {
    let (room, id, scheduled) = try (row.id(RoomID.self), row.id(MessageID.self), row.stamp())
    let revision = try row.position()
    var failure: ScheduledFailure?
    if row.isNull {
      row.skip(3)
    } else {
      failure = try ScheduledFailure(reason: row.choice(), stamp: row.stamp())
    }
    return ScheduledRow(
      room: room, id: id, message: try ScheduledMessageBytes.decode(row.bytes()), scheduled: scheduled,
      revision: revision, failure: failure)
  }

  /// The scheduled message with this ID, of any author. Nil if the room has none, for example because it was sent or
  /// cancelled.
  package func scheduledMessage(_ id: MessageID, of room: RoomID) throws -> ScheduledRow? {
    try CachedStatement(
      database, "SELECT \(Self.scheduledColumns) FROM scheduled WHERE roomId = ? AND messageId = ?"
    ).first(room, id, read: Self.readScheduled)
  }

  /// The author's messages in one room, earliest sending time first. There are never many, but they may be large.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func scheduledMessages(
    of author: UserID, in room: RoomID, after cursor: ScheduledPlace? = nil
  ) throws -> ScheduledRoomPage {
    let limit = 2 * Limits.scheduledMessagesPerUserAndRoom
    let (rows, isCut) = try CachedStatement(
      database,
      """
      SELECT \(Self.scheduledColumns) FROM scheduled
      WHERE roomId = ? AND author = ? AND (sendAt, scheduledPosition) > (?, ?)
      ORDER BY sendAt, scheduledPosition LIMIT ?
      """
    ).page(
      of: limit, room, author, cursor?.sendAt.milliseconds ?? .min,
      cursor.map { Int64(clamping: $0.position.value) } ?? 0, limit + 1, bytes: { $0.contentBytes },
      read: Self.readScheduled)
    let last = rows.last.map { ScheduledPlace(sendAt: $0.message.sendAt, position: $0.scheduled.position) }
    return ScheduledRoomPage(messages: rows, next: isCut ? last : nil)
  }

  /// The author's messages in all rooms, in the order in which they were scheduled.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func scheduledMessages(
    of author: UserID, after cursor: LogPosition? = nil, limit: Int
  ) throws -> ScheduledPage {
    let (rows, isCut) = try CachedStatement(
      database,
      """
      SELECT \(Self.scheduledColumns) FROM scheduled
      WHERE author = ? AND scheduledPosition > ? AND \(Self.isInRoom)
      ORDER BY scheduledPosition LIMIT ?
      """
    ).page(
      of: limit, author, cursor.map { Int64(clamping: $0.value) } ?? 0, limit + 1, bytes: { $0.contentBytes },
      read: Self.readScheduled)
    return ScheduledPage(messages: rows, next: isCut ? rows.last?.scheduled.position : nil)
  }

  /// The messages whose sending time is `time` or earlier, and the time of the next message after them.
  /// - Parameters:
  ///   - limit: the maximum number of messages.
  ///   - bytes: the maximum length of their contents together; the first one may be longer.
  package func dueMessages(at time: Timestamp, limit: Int, bytes: Int = .max) throws -> DueMessages {
    var due: [DueMessage] = []
    var left = bytes
    try CachedStatement(
      database,
      """
      SELECT roomId, messageId, length(content) FROM scheduled
      WHERE failure IS NULL AND sendAt <= ? AND \(Self.isInRoom)
      ORDER BY sendAt, scheduledPosition LIMIT ?
      """
    ).readWhile(time, limit) { row in
      let message = DueMessage(room: try row.id(), id: try row.id())
      left -= Int(clamping: try row.number())
      guard due.isEmpty || left >= 0 else { return false }
      due.append(message)
      return true
    }
    let next = try CachedStatement(
      database,
      """
      SELECT sendAt FROM scheduled WHERE failure IS NULL AND sendAt > ? AND \(Self.isInRoom) ORDER BY sendAt LIMIT 1
      """
    ).first(time) { try $0.time() }
    return DueMessages(due: due, next: next)
  }
}
