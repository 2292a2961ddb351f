import ChatDomain
import ChatPrimitives
import GRDB

/// One batch of events on its way into `timeline`.
struct TimelineBatch {
  private let database: Database
  private let insert: CachedStatement
  private var ordinals: OrdinalCounter

  init(_ database: Database) throws {
    self.database = database
    ordinals = OrdinalCounter(database)
    insert = try CachedStatement(
      database,
      """
      INSERT INTO message (roomId, ordinal, messageId, sender, sentAt, position, revision, text)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
  }

  func flush() throws { try ordinals.flush() }

  // MARK: - Users

  func apply(_ event: UserEvent, of user: UserID) throws {
    switch event {
    case .registered(let registration):
      try Profiles.set(registration.nickname, of: user, database)
    case .profileChanged(let profile):
      try Profiles.set(profile.nickname, of: user, database)
    case .credentialSet, .identityLinked, .emailSet, .disabled, .enabled, .preferencesSet, .sessionStarted,
      .sessionRefreshed, .sessionEnded, .deviceRegistered, .deviceUpdated, .pushTokenInvalidated, .deviceRemoved,
      .pushTokenMoved, .mediaUploaded, .erased:
      break
    }
  }

  // MARK: - Rooms

  mutating func apply(_ event: RoomEvent, in room: RoomID, _ recorded: RecordedEvent) throws {
    switch event {
    case .created, .erased:
      // An erased first fact was the creation.
      try create(room)
    case .memberJoined(let user, _, _), .memberAdded(let user, _):
      try admit(user, to: room)
    case .memberLeft(let user), .memberRemoved(let user):
      try CachedStatement(database, "DELETE FROM member WHERE roomId = ? AND userId = ?").run {
        $0.add(room)
        $0.add(user)
      }
    case .messageSent(let message, let author, let thread, let content):
      if thread == nil { try send(message, author, content?.text ?? "", in: room, recorded) }
    case .messageEdited(_, let place, let edit):
      if !place.isInThread { try self.edit(place.ordinal, edit?.text ?? "", in: room, recorded) }
    case .messageDeleted(_, let place):
      if !place.isInThread { try delete(place.ordinal, in: room, recorded) }
    case .deleted, .memberBanned:
      break
    case .reactionAdded, .reactionRemoved, .messagePinned, .messageUnpinned:
      break
    case .edited, .archived, .restored, .inviteCreated, .inviteRevoked, .admissionRepeated, .roleChanged,
      .memberUnbanned, .memberSilenced, .muted, .readMarkerMoved, .threadMarkerMoved, .markedUnread,
      .threadFollowingSet, .messageScheduled, .scheduledMessageChanged, .scheduledMessageCancelled,
      .scheduledMessageFailed:
      break
    }
  }

  private mutating func create(_ room: RoomID) throws {
    guard try !ordinals.exists(room) else { return }
    try CachedStatement(database, "INSERT INTO room (id, lastOrdinal) VALUES (?, 0)").run { $0.add(room) }
    ordinals.noteCreated(room)
  }

  private mutating func admit(_ user: UserID, to room: RoomID) throws {
    guard try ordinals.exists(room) else { return }
    try CachedStatement(
      database, "INSERT INTO member (roomId, userId) VALUES (?, ?) ON CONFLICT (roomId, userId) DO NOTHING"
    ).run {
      $0.add(room)
      $0.add(user)
    }
  }

  private mutating func send(
    _ message: MessageID, _ author: UserID, _ text: String, in room: RoomID, _ recorded: RecordedEvent
  ) throws {
    guard let ordinal = try ordinals.next(in: room) else { return }
    try insert.run {
      $0.add(room)
      $0.add(ordinal)
      $0.add(message)
      $0.add(author)
      $0.add(recorded.occurredAt)
      $0.add(recorded.position)
      $0.add(recorded.position)
      $0.add(text)
    }
  }

  private func edit(_ ordinal: UInt64, _ text: String, in room: RoomID, _ recorded: RecordedEvent) throws {
    try CachedStatement(
      database,
      """
      UPDATE message SET text = ?, editedAt = ?, revision = ?
      WHERE roomId = ? AND ordinal = ? AND deletedAt IS NULL
      """
    ).run {
      $0.add(text)
      $0.add(recorded.occurredAt)
      $0.add(recorded.position)
      $0.add(room)
      $0.add(ordinal)
    }
  }

  /// The row stays, so that the ordinals stay without gaps; the text goes.
  private func delete(_ ordinal: UInt64, in room: RoomID, _ recorded: RecordedEvent) throws {
    try CachedStatement(
      database,
      """
      UPDATE message SET text = '', deletedAt = ?, revision = ?
      WHERE roomId = ? AND ordinal = ? AND deletedAt IS NULL
      """
    ).run {
      $0.add(recorded.occurredAt)
      $0.add(recorded.position)
      $0.add(room)
      $0.add(ordinal)
    }
  }
}
