import ChatDomain
import ChatPrimitives
import EventStore
import GRDB

/// Applies one batch of events to `timeline`.
struct TimelineBatch {
  let database: Database
  private let insert: CachedStatement
  private var ordinals: OrdinalCounter

  init(_ database: Database) throws {
    self.database = database
    ordinals = OrdinalCounter(database)
    insert = try CachedStatement(
      database,
      """
      INSERT INTO message (roomId, thread, ordinal, messageId, sender, sentAt, position, revision, details, text)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
  }

  func flush() throws { try ordinals.flush() }

  // MARK: - Users

  func apply(_ event: UserEvent, of user: UserID, at position: LogPosition) throws {
    switch event {
    case .account(.registered(let registration)):
      try Profiles.apply(ProfileEdit(nickname: registration.nickname), of: user, database)
    case .account(.profileChanged(let edit)):
      try Profiles.apply(edit, of: user, database)
    case .blocks(let event):
      try Blocks.apply(event, of: user, at: position, database)
    case .deletion(.deleted):
      try Profiles.forget(user, database)
    case .account(.emailSet), .account(.disabled), .account(.enabled), .account(.preferencesSet), .logins, .sessions,
      .devices, .media, .deletion(.erased), .erased:
      break
    }
  }

  // MARK: - Rooms

  mutating func apply(_ event: RoomEvent, in room: RoomID, _ recorded: RecordedEvent) throws {
    switch event {
    case .lifecycle(.created), .erased:
      // An erased first event was the creation.
      try create(room)
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      try admit(user, to: room)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      try CachedStatement(database, "DELETE FROM member WHERE roomId = ? AND userId = ?").run(room, user)
    case .messages(.sent(let message, let author, let thread, let content)):
      try send(message, author, thread, content, in: room, recorded)
    case .messages(.edited(_, let location, let edit)):
      try self.edit(location, edit, in: room, recorded)
    case .messages(.deleted(_, let location)):
      try delete(location, in: room, recorded)
    case .lifecycle(.deleted):
      try end(room)
    case .annotations(.reactionAdded(_, let location, let user, let emoji, _)):
      try react(emoji, by: user, at: location, in: room, recorded)
    case .annotations(.reactionRemoved(_, let location, let user, let emoji)):
      if emoji.isEmpty { try unreactAll(by: user, at: location, in: room, recorded.position) }
      try unreact(emoji, by: user, at: location, in: room, recorded.position)
    case .annotations(.pinned(let message, let location)):
      try pin(message, at: location, in: room, recorded)
    case .annotations(.unpinned(_, let location)):
      try unpin(at: location, in: room, recorded.position)
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .sharing, .members(.admissionRepeated),
      .members(.roleChanged), .members(.unbanned), .members(.silenced), .members(.muted), .members(.notificationsSet),
      .members(.hidden), .members(.shown),
      .reading, .threads, .scheduling, .reports:
      break
    }
  }

  private mutating func create(_ room: RoomID) throws {
    guard try !ordinals.exists(room) else { return }
    try CachedStatement(database, "INSERT INTO room (id, lastOrdinal) VALUES (?, 0)").run(room)
    ordinals.noteCreated(room)
  }

  /// Without the room's row, nobody can read its messages. `BulkDeletion` removes them later.
  private mutating func end(_ room: RoomID) throws {
    guard try ordinals.exists(room) else { return }
    try CachedStatement(database, "DELETE FROM room WHERE id = ?").run(room)
    ordinals.noteDeleted(room)
    try BulkDeletion.note(room, .room, database)
  }

  private mutating func admit(_ user: UserID, to room: RoomID) throws {
    guard try ordinals.exists(room) else { return }
    try CachedStatement(
      database, "INSERT INTO member (roomId, userId) VALUES (?, ?) ON CONFLICT (roomId, userId) DO NOTHING"
    ).run(room, user)
  }

  private mutating func send(
    _ message: MessageID, _ author: UserID, _ thread: ThreadLocation?, _ content: MessageContent?, in room: RoomID,
    _ recorded: RecordedEvent
  ) throws {
    guard let location = try location(in: room, thread) else { return }
    let details = try content?.details.map(DetailsCodec.encode)
    try insert.run(
      room, location, message, author, recorded.occurredAt, recorded.position, recorded.position, details,
      content?.text ?? "")
    if let type = content?.details?.custom?.type { try note(type, of: location, in: room) }
    guard let thread else { return }
    try countReply(thread, by: author, in: room, recorded)
    try noteReplies(ofThread: thread.root.ordinal, in: room, recorded.position)
  }

  /// Nil if the room does not exist.
  private mutating func location(in room: RoomID, _ thread: ThreadLocation?) throws -> MessageLocation? {
    if let thread { return try ordinals.exists(room) ? thread.location : nil }
    return try ordinals.next(in: room).map(MessageLocation.room)
  }

  /// The message. Nil if it was deleted or does not exist.
  private func existing(_ location: MessageLocation, in room: RoomID) throws -> MessageRow? {
    let row = try TimelineQueries(database).messages(of: room, thread: location.thread, location.run).first
    return row?.deletedAt == nil ? row : nil
  }

  private func edit(
    _ location: MessageLocation, _ edit: MessageEdit?, in room: RoomID, _ recorded: RecordedEvent
  ) throws {
    guard var message = try existing(location, in: room) else { return }
    try keepRevision(message)
    message.edit(edit)
    let details = try message.details.map(DetailsCodec.encode)
    try CachedStatement(
      database,
      """
      UPDATE message SET text = ?, details = ?, editedAt = ?, revision = ?
      WHERE roomId = ? AND thread = ? AND ordinal = ?
      """
    ).run(message.text, details, recorded.occurredAt, recorded.position, room, location)
    try noteChange(at: location, in: room, recorded.position)
  }

  /// When a message of a deleted user was edited is not known after a rebuild from a log without the user's edits.
  private func forgetEdits(of location: MessageLocation, in room: RoomID) throws {
    try CachedStatement(
      database,
      """
      UPDATE message SET editedAt = NULL
      WHERE roomId = ? AND thread = ? AND ordinal = ? AND editedAt IS NOT NULL
        AND EXISTS (SELECT 1 FROM profile WHERE userId = message.sender AND nickname = '')
      """
    ).run(room, location)
  }

  /// Keeps the row, so that the ordinals have no gaps. Removes the message's text, details and additions.
  private func delete(_ location: MessageLocation, in room: RoomID, _ recorded: RecordedEvent) throws {
    try forgetEdits(of: location, in: room)
    guard let message = try existing(location, in: room) else { return }
    try CachedStatement(
      database,
      """
      UPDATE message SET text = '', details = NULL, deletedAt = ?, revision = ?
      WHERE roomId = ? AND thread = ? AND ordinal = ?
      """
    ).run(recorded.occurredAt, recorded.position, room, location)
    try removeAdditions(at: location, in: room)
    if let type = message.details?.custom?.type { try removeType(type, of: location, in: room) }
    try noteChange(at: location, in: room, recorded.position)
    guard location.isInThread else { return }
    try discountReply(location, by: message.sender, in: room)
    try noteReplies(ofThread: location.thread, in: room, recorded.position)
  }
}
