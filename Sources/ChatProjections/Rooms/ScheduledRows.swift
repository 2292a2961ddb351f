package import ChatDomain
package import ChatPrimitives
import EventStore
import GRDB

/// A message that is scheduled, or that could not be sent at its time.
package struct ScheduledRow: Sendable, Hashable {
  package var room: RoomID
  package var id: MessageID
  package var message: ScheduledMessage
  package var scheduled: Stamp
  /// Where it was last changed: scheduled, changed or failed.
  package var revision: LogPosition
  package var failure: ScheduledFailure?
}

package struct ScheduledFailure: Sendable, Hashable {
  package var reason: SchedulingFailure
  package var stamp: Stamp
}

/// An author's scheduled messages, in the order in which they were scheduled.
package struct ScheduledPage: Sendable, Hashable {
  package var messages: [ScheduledRow]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// One author's scheduled messages in one room, earliest sending time first.
package struct ScheduledRoomPage: Sendable, Hashable {
  package var messages: [ScheduledRow]
  /// The cursor of the next page; nil if this is the last.
  package var next: ScheduledPlace?
}

/// A position in the list of an author's scheduled messages in a room.
package struct ScheduledPlace: Sendable, Hashable {
  package var sendAt: Timestamp
  /// Where it was scheduled. This orders messages with the same sending time.
  package var position: LogPosition

  package init(sendAt: Timestamp, position: LogPosition) {
    self.sendAt = sendAt
    self.position = position
  }
}

/// The messages that are due, earliest first, and the time of the next one.
package struct DueMessages: Sendable, Hashable {
  package var due: [DueMessage]
  package var next: Timestamp?

  package init(due: [DueMessage], next: Timestamp?) {
    self.due = due
    self.next = next
  }
}

/// A message to be sent now. Its content is read when it is sent.
package struct DueMessage: Sendable, Hashable {
  package var room: RoomID
  package var id: MessageID

  package init(room: RoomID, id: MessageID) {
    self.room = room
    self.id = id
  }
}

/// Applies events to the rows of scheduled messages. A message that was sent or cancelled has no row. A message that
/// could not be sent keeps its row; only the newest of each author and room are kept.
struct ScheduledRows {
  private let database: Database

  private let contents: RoomsProjection.Contents

  init(_ database: Database, _ contents: RoomsProjection.Contents) {
    self.database = database
    self.contents = contents
  }

  /// The content comes last, because it may be long.
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE scheduled (
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          author BLOB NOT NULL,
          sendAt INTEGER NOT NULL,
          scheduledPosition INTEGER NOT NULL,
          scheduledTime INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          failure INTEGER,
          failedPosition INTEGER,
          failedTime INTEGER,
          content BLOB NOT NULL,
          PRIMARY KEY (roomId, messageId)
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX scheduled_by_time ON scheduled (sendAt, scheduledPosition) WHERE failure IS NULL;
        CREATE INDEX scheduled_by_author ON scheduled (author, scheduledPosition);
        """)
  }

  func apply(_ event: RoomEvent, in room: RoomID, _ stamp: Stamp) throws {
    switch event {
    case .scheduling(.scheduled(let id, let message)):
      // The account of an erased message's author was deleted, and so are its rows.
      if let message { try insert(id, message, in: room, stamp) }
    case .scheduling(.changed(let id, let edit)):
      guard let row = try RoomsQueries(database).scheduledMessage(id, of: room) else { return }
      try update(id, row.message.applying(edit), in: room, stamp)
    case .scheduling(.failed(let id, let reason)):
      try fail(id, reason, in: room, stamp)
    case .scheduling(.cancelled(let id)), .messages(.sent(let id, _, _, _)):
      try remove(id, in: room, stamp)
    case .lifecycle, .sharing, .members, .messages(.edited), .messages(.deleted), .annotations, .reading, .threads,
      .reports, .erased:
      break
    }
  }

  private func insert(_ id: MessageID, _ message: ScheduledMessage, in room: RoomID, _ stamp: Stamp) throws {
    let content = try ScheduledMessageBytes.encode(message)
    try CachedStatement(
      database,
      """
      INSERT INTO scheduled (
        roomId, messageId, author, sendAt, scheduledPosition, scheduledTime, revision, content
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (roomId, messageId) DO NOTHING
      """
    ).run(room, id, message.author, message.sendAt, stamp, stamp.position, content)
    try note(id, of: message.author, in: room, stamp)
  }

  private func update(_ id: MessageID, _ message: ScheduledMessage, in room: RoomID, _ stamp: Stamp) throws {
    let content = try ScheduledMessageBytes.encode(message)
    try CachedStatement(
      database,
      """
      UPDATE scheduled SET sendAt = ?, revision = ?, content = ?
      WHERE roomId = ? AND messageId = ? AND failure IS NULL
      """
    ).run(message.sendAt, stamp.position, content, room, id)
    try note(id, of: message.author, in: room, stamp)
  }

  private func remove(_ id: MessageID, in room: RoomID, _ stamp: Stamp) throws {
    let author = try CachedStatement(
      database, "DELETE FROM scheduled WHERE roomId = ? AND messageId = ? RETURNING author"
    ).first(room, id) { try $0.id(UserID.self) }
    if let author { try note(id, of: author, in: room, stamp) }
  }

  private func fail(_ id: MessageID, _ reason: SchedulingFailure, in room: RoomID, _ stamp: Stamp) throws {
    guard let author = try RoomsQueries(database).scheduledMessage(id, of: room)?.message.author else { return }
    try CachedStatement(
      database,
      """
      UPDATE scheduled SET failure = ?, failedPosition = ?, failedTime = ?, revision = ?
      WHERE roomId = ? AND messageId = ?
      """
    ).run(Int64(reason.rawValue), stamp, stamp.position, room, id)
    try note(id, of: author, in: room, stamp)
    let dropped = try CachedStatement(
      database,
      """
      DELETE FROM scheduled WHERE author = ? AND roomId = ? AND failedPosition <= (
        SELECT failedPosition FROM scheduled WHERE author = ? AND roomId = ? AND failure IS NOT NULL
        ORDER BY failedPosition DESC LIMIT 1 OFFSET ?)
      RETURNING messageId
      """
    ).all(author, room, author, room, Limits.scheduledMessagesPerUserAndRoom) { try $0.id(MessageID.self) }
    for id in dropped { try note(id, of: author, in: room, stamp) }
  }

  private func note(_ id: MessageID, of author: UserID, in room: RoomID, _ stamp: Stamp) throws {
    guard contents == .everything else { return }
    let message = ChangedEntity(type: .scheduledMessage, id: id.uuid, room: room.uuid)
    try Changes.note(message, in: .user(author), at: stamp.position, database)
  }
}
