import ChatDomain
import ChatPrimitives
import GRDB

/// Applies one batch of events to `ids`. Returns the filter's entry for each key that is new to the index.
///
/// The rows of new messages are inserted together, in the order of their keys. The IDs of consecutive messages are spread
/// over the whole table, so this order reads and changes each page once, however small the page cache is.
struct IDIndexBatch {
  /// A row of `message` that is not inserted yet.
  private struct NewMessage {
    let key: MessageKey
    let author: UserID
    let location: MessageLocation
    let sent: Stamp
    let sentAt: Timestamp
    let parts: StoredParts
    let fingerprint: Fingerprint?
  }

  private let database: Database
  private let insertMessage: CachedStatement
  private let insertCommand: CachedStatement
  private var ordinals: OrdinalCounter
  private var newMessages: [NewMessage] = []

  init(_ database: Database) throws {
    self.database = database
    ordinals = OrdinalCounter(database)
    insertMessage = try CachedStatement(
      database,
      """
      INSERT INTO message (
        roomId, messageId, author, thread, ordinal, sentPosition, sentTime, sentAt, revision, deleted, parts,
        fingerprint
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
      """)
    insertCommand = try CachedStatement(
      database,
      """
      INSERT INTO command (actor, id, position, time, fingerprint) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (actor, id) DO NOTHING
      """)
  }

  mutating func flush() throws {
    try insertNewMessages()
    try ordinals.flush()
  }

  private mutating func insertNewMessages() throws {
    guard !newMessages.isEmpty else { return }
    newMessages.sort { ($0.key.room, $0.key.message) < ($1.key.room, $1.key.message) }
    for message in newMessages {
      try insertMessage.run(
        message.key, message.author, message.location, message.sent, message.sentAt, message.sent.position,
        Int64(message.parts.rawValue), message.fingerprint)
    }
    newMessages.removeAll(keepingCapacity: true)
  }

  // MARK: - Commands

  /// Only the first event of a command inserts a row; the later ones find it.
  func noteCommand(_ recorded: RecordedEvent) throws -> UInt64? {
    guard let key = CommandKey(recorded) else { return nil }
    let inserted = try insertCommand.run(key.actor, key.command, recorded.stamp, recorded.event.commandFingerprint)
    return inserted > 0 ? KnownIDFilter.entry(key.command, by: key.actor) : nil
  }

  // MARK: - Erasure

  /// What an erased user sent is not recognised any more: a fingerprint of a short text reveals the text. Those of
  /// messages go when the erasure deletes the messages.
  func forget(_ user: UserID) throws {
    try CachedStatement(database, "INSERT INTO erasedUser (userId) VALUES (?) ON CONFLICT (userId) DO NOTHING")
      .run(user)
    try CachedStatement(database, "DELETE FROM command WHERE actor = ?").run(user)
    try CachedStatement(database, "DELETE FROM scheduled WHERE author = ?").run(user)
  }

  /// Call this after `revise`, which finds the row.
  private func forgetContent(of message: MessageID, in room: RoomID) throws {
    try CachedStatement(
      database,
      """
      UPDATE message SET fingerprint = NULL, parts = 0
      WHERE roomId = ? AND messageId = ? AND author IN (SELECT userId FROM erasedUser)
      """
    ).run(room, message)
  }

  // MARK: - Messages

  mutating func apply(_ event: RoomEvent, in room: RoomID, _ recorded: RecordedEvent) throws -> UInt64? {
    switch event {
    case .lifecycle(.created), .erased:
      // An erased first event was the creation.
      try create(room)
    case .messages(.sent(let message, let author, let thread, let content)):
      return try send(message, author, thread, content, event.fingerprint, in: room, recorded)
    case .messages(.edited(let message, let location, _)):
      try noteReply(at: location, in: room)
      try revise(message, in: room, recorded.stamp, isDeleted: false)
    case .messages(.deleted(let message, let location)):
      try noteReply(at: location, in: room)
      try revise(message, in: room, recorded.stamp, isDeleted: true)
      try forgetContent(of: message, in: room)
      try ReactionRows(database).removeAll(from: MessageKey(room: room, message: message))
    case .annotations(.reactionAdded(let message, let location, let user, let emoji, _)):
      try noteReply(at: location, in: room)
      let key = ReactionKey(message: MessageKey(room: room, message: message), user: user, emoji: emoji)
      try ReactionRows(database).add(key)
    case .annotations(.reactionRemoved(let message, let location, let user, let emoji)):
      try noteReply(at: location, in: room)
      let key = ReactionKey(message: MessageKey(room: room, message: message), user: user, emoji: emoji)
      if emoji.isEmpty { try ReactionRows(database).removeAll(of: user, from: key.message) }
      try ReactionRows(database).remove(key)
    case .scheduling(.scheduled(let message, let scheduled)):
      guard let author = scheduled?.author ?? recorded.actor else { break }
      return try schedule(message, by: author, scheduled.map { .scheduling($0) }, in: room, recorded.stamp)
    case .annotations(.pinned(_, let location)), .annotations(.unpinned(_, let location)),
      .threads(.markerMoved(_, _, let location)):
      try noteReply(at: location, in: room)
    case .lifecycle(.deleted):
      try end(room)
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .sharing, .members, .reading,
      .threads(.followingSet), .scheduling(.changed), .scheduling(.cancelled), .scheduling(.failed),
      .reports:
      break
    }
    return nil
  }

  private mutating func create(_ room: RoomID) throws {
    guard try !ordinals.exists(room) else { return }
    try CachedStatement(database, "INSERT INTO room (id, lastOrdinal) VALUES (?, 0)").run(room)
    ordinals.noteCreated(room)
  }

  /// No decision needs the messages of a deleted room. `BulkDeletion` removes their rows later.
  private mutating func end(_ room: RoomID) throws {
    guard try ordinals.exists(room) else { return }
    try CachedStatement(database, "DELETE FROM room WHERE id = ?").run(room)
    ordinals.noteDeleted(room)
    try BulkDeletion.note(room, .room, database)
  }

  private mutating func send(
    _ message: MessageID, _ author: UserID, _ thread: ThreadLocation?, _ content: MessageContent?,
    _ fingerprint: Fingerprint?, in room: RoomID, _ recorded: RecordedEvent
  ) throws -> UInt64? {
    guard let location = try location(in: room, thread) else { return nil }
    try noteReply(at: location, in: room)
    newMessages.append(
      NewMessage(
        key: MessageKey(room: room, message: message), author: author, location: location, sent: recorded.stamp,
        sentAt: recorded.occurredAt, parts: StoredParts(content), fingerprint: fingerprint))
    return KnownIDFilter.entry(message, in: room)
  }

  /// The row stays even if the message is sent, cancelled or fails, so that a late retry is recognised.
  private func schedule(
    _ message: MessageID, by author: UserID, _ fingerprint: Fingerprint?, in room: RoomID, _ stamp: Stamp
  ) throws -> UInt64? {
    let inserted = try CachedStatement(
      database,
      """
      INSERT INTO scheduled (roomId, messageId, author, position, time, fingerprint) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (roomId, messageId) DO NOTHING
      """
    ).run(room, message, author, stamp, fingerprint)
    return inserted > 0 ? KnownIDFilter.entry(message, in: room) : nil
  }

  /// Nil if the room does not exist.
  private mutating func location(in room: RoomID, _ thread: ThreadLocation?) throws -> MessageLocation? {
    if let thread { return try ordinals.exists(room) ? thread.location : nil }
    return try ordinals.next(in: room).map(MessageLocation.room)
  }

  /// Records that a thread's ordinal is taken. Every event that names a reply proves that its ordinal was assigned: the
  /// reply itself and each later event about it. So the ordinal of an erased reply stays taken if a later event names
  /// that reply or a newer one.
  private mutating func noteReply(at location: MessageLocation, in room: RoomID) throws {
    guard location.isInThread, try ordinals.exists(room) else { return }
    try CachedStatement(
      database,
      """
      INSERT INTO threadEnd (roomId, root, lastOrdinal) VALUES (?, ?, ?)
      ON CONFLICT (roomId, root) DO UPDATE SET lastOrdinal = excluded.lastOrdinal
      WHERE excluded.lastOrdinal > lastOrdinal
      """
    ).run(room, location)
  }

  private mutating func revise(_ message: MessageID, in room: RoomID, _ stamp: Stamp, isDeleted: Bool) throws {
    let update = try CachedStatement(
      database,
      """
      UPDATE message SET revision = ?, revisedAt = ?, deleted = MAX(deleted, ?)
      WHERE roomId = ? AND messageId = ?
      """)
    if try update.run(stamp, isDeleted, room, message) > 0 || newMessages.isEmpty { return }
    // It may be one of the new messages.
    try insertNewMessages()
    try update.run(stamp, isDeleted, room, message)
  }
}
