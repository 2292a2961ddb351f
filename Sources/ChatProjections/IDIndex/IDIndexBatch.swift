import ChatDomain
import ChatPrimitives
import GRDB

/// One batch of events on its way into `ids`. What is new to the index comes back as an entry for the filter.
struct IDIndexBatch {
  private let database: Database
  private let insertMessage: CachedStatement
  private let insertCommand: CachedStatement
  private var ordinals: OrdinalCounter

  init(_ database: Database) throws {
    self.database = database
    ordinals = OrdinalCounter(database)
    insertMessage = try CachedStatement(
      database,
      """
      INSERT INTO message (
        roomId, messageId, author, ordinal, sentPosition, sentTime, sentAt, revision, deleted, fingerprint
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
      """)
    insertCommand = try CachedStatement(
      database,
      """
      INSERT INTO command (actor, id, position, time, fingerprint) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (actor, id) DO NOTHING
      """)
  }

  func flush() throws { try ordinals.flush() }

  // MARK: - Commands

  /// Only the first event of a command counts: the others find its row.
  func noteCommand(_ recorded: RecordedEvent) throws -> UInt64? {
    guard let key = CommandKey(recorded) else { return nil }
    let inserted = try insertCommand.run {
      $0.add(key.actor)
      $0.add(key.command)
      $0.add(recorded.stamp)
      $0.add(recorded.event.commandFingerprint)
    }
    return inserted > 0 ? SeenFilter.entry(key.command, by: key.actor) : nil
  }

  // MARK: - Messages

  mutating func apply(_ event: RoomEvent, in room: RoomID, _ recorded: RecordedEvent) throws -> UInt64? {
    switch event {
    case .created, .erased:
      // An erased first fact was the creation.
      try create(room)
    case .messageSent(let message, let author, let thread, _):
      if thread == nil { return try send(message, author, event.fingerprint, in: room, recorded) }
    case .messageEdited(let message, _, _):
      try revise(message, in: room, recorded.stamp, isDeleted: false)
    case .messageDeleted(let message, _):
      try revise(message, in: room, recorded.stamp, isDeleted: true)
    case .edited, .archived, .restored, .deleted, .inviteCreated, .inviteRevoked, .memberJoined, .memberAdded,
      .admissionRepeated, .memberLeft, .memberRemoved, .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced,
      .muted, .reactionAdded, .reactionRemoved, .messagePinned, .messageUnpinned, .readMarkerMoved,
      .threadMarkerMoved, .markedUnread, .threadFollowingSet, .messageScheduled, .scheduledMessageChanged,
      .scheduledMessageCancelled, .scheduledMessageFailed:
      break
    }
    return nil
  }

  private mutating func create(_ room: RoomID) throws {
    guard try !ordinals.exists(room) else { return }
    try CachedStatement(database, "INSERT INTO room (id, lastOrdinal) VALUES (?, 0)").run { $0.add(room) }
    ordinals.noteCreated(room)
  }

  private mutating func send(
    _ message: MessageID, _ author: UserID, _ fingerprint: Fingerprint?, in room: RoomID, _ recorded: RecordedEvent
  ) throws -> UInt64? {
    guard let ordinal = try ordinals.next(in: room) else { return nil }
    try insertMessage.run {
      $0.add(room)
      $0.add(message)
      $0.add(author)
      $0.add(ordinal)
      $0.add(recorded.stamp)
      $0.add(recorded.occurredAt)
      $0.add(recorded.position)
      $0.add(fingerprint)
    }
    return SeenFilter.entry(message, in: room)
  }

  private func revise(_ message: MessageID, in room: RoomID, _ stamp: Stamp, isDeleted: Bool) throws {
    try CachedStatement(
      database,
      """
      UPDATE message SET revision = ?, revisedAt = ?, deleted = MAX(deleted, ?)
      WHERE roomId = ? AND messageId = ?
      """
    ).run {
      $0.add(stamp)
      $0.add(isDeleted ? 1 : 0)
      $0.add(room)
      $0.add(message)
    }
  }
}
