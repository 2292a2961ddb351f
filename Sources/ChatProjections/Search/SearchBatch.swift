import ChatDomain
import ChatPrimitives
import GRDB

/// Applies one batch of events to `search`.
struct SearchBatch {
  private struct Room {
    let number: Int64
    var lastOrdinal: UInt64
    var isChanged = false
  }

  private let database: Database
  /// Whether the full-text index is updated with each message. During a rebuild it is created after all rows are
  /// inserted.
  private let isIndexed: Bool
  private let insertIndexedText: CachedStatement
  private let insertPlace: CachedStatement
  /// The value is nil for a room that is known not to exist.
  private var rooms: [RoomID: Room?] = [:]
  private var shard: OpenShard?
  private var stale: Set<UInt64> = []
  private var document = SearchDocument()

  init(_ database: Database, isIndexed: Bool) throws {
    self.database = database
    self.isIndexed = isIndexed
    insertIndexedText = try CachedStatement(
      database,
      """
      INSERT INTO wording (isGone, position, room, thread, ordinal, sender, sentAt, hasMedia, type, nameBytes, text, extra)
      VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    insertPlace = try CachedStatement(
      database,
      """
      INSERT INTO place (room, thread, ordinal, wording) VALUES (?, ?, ?, ?)
      ON CONFLICT (room, thread, ordinal) DO UPDATE SET wording = excluded.wording
      """)
  }

  func flush() throws {
    try shard?.write(database)
    let update = try CachedStatement(database, "UPDATE room SET lastOrdinal = ? WHERE number = ?")
    for case let room? in rooms.values where room.isChanged {
      try update.run(room.lastOrdinal, room.number)
    }
    for number in stale.sorted() { try SearchShard(number: number).noteStale(database) }
  }

  // MARK: - Events

  mutating func apply(_ event: RoomEvent, in id: RoomID, _ recorded: RecordedEvent) throws {
    switch event {
    case .lifecycle(.created), .erased:
      // An erased first event was the creation.
      if try room(id) == nil { try create(id, recorded.position) }
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      try admit(user, to: id)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      try dismiss(user, from: id)
    case .messages(.sent(_, let author, let thread, let content)):
      try send(by: author, thread, content, in: id, recorded)
    case .messages(.edited(_, let location, let edit)):
      try self.edit(location, edit, in: id, recorded.position)
    case .messages(.deleted(_, let location)):
      if let room = try room(id), let old = try indexedText(at: location, in: room) { try erase(old.position) }
    case .lifecycle(.deleted):
      try close(id)
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .sharing, .members(.admissionRepeated),
      .members(.roleChanged), .members(.unbanned), .members(.silenced), .members(.muted), .members(.notificationsSet),
      .members(.hidden), .members(.shown),
      .annotations, .reading, .threads, .scheduling, .reports:
      break
    }
  }

  // MARK: - Rooms and members

  private mutating func room(_ id: RoomID) throws -> Room? {
    if let known = rooms[id] { return known }
    let found = try CachedStatement(database, "SELECT number, lastOrdinal FROM room WHERE id = ?").first(id) {
      Room(number: try $0.number(), lastOrdinal: try $0.unsigned())
    }
    rooms[id] = .some(found)
    return found
  }

  /// A room's number is the position of its first event. So it is never used again, even after the room is deleted.
  private mutating func create(_ id: RoomID, _ position: LogPosition) throws {
    try CachedStatement(database, "INSERT INTO room (number, id, lastOrdinal) VALUES (?, ?, 0)").run(position, id)
    rooms[id] = nil
  }

  private mutating func admit(_ user: UserID, to id: RoomID) throws {
    guard let room = try room(id) else { return }
    try CachedStatement(
      database, "INSERT INTO member (userId, room) VALUES (?, ?) ON CONFLICT (userId, room) DO NOTHING"
    ).run(user, room.number)
  }

  private mutating func dismiss(_ user: UserID, from id: RoomID) throws {
    guard let room = try room(id) else { return }
    try CachedStatement(database, "DELETE FROM member WHERE userId = ? AND room = ?").run(user, room.number)
  }

  /// Without the room's row, none of its messages are found. Their texts are erased later.
  private mutating func close(_ id: RoomID) throws {
    guard let room = try room(id) else { return }
    try CachedStatement(database, "DELETE FROM room WHERE number = ?").run(room.number)
    rooms[id] = .some(nil)
    try SearchBulkDeletion.note(room.number, database)
  }

  // MARK: - Messages

  private mutating func send(
    by author: UserID, _ thread: ThreadLocation?, _ content: MessageContent?, in id: RoomID, _ recorded: RecordedEvent
  ) throws {
    guard var room = try room(id) else { return }
    let location: MessageLocation
    if let thread {
      location = thread.location
    } else {
      room.lastOrdinal += 1
      room.isChanged = true
      rooms[id] = .some(room)
      location = .room(room.lastOrdinal)
    }
    let details = content?.details
    let names = details.map(IndexedText.names) ?? []
    let values = details?.custom.map { JSONWords.values(of: $0.body) } ?? []
    try add(
      IndexedText(
        position: recorded.position, room: room.number, location: location, sender: author, sentAt: recorded.occurredAt,
        hasMedia: details?.attachments.isEmpty == false, type: TypeHash(details?.custom?.type), nameBytes: names.count,
        text: Array((content?.text ?? "").utf8), extra: names + values))
  }

  private mutating func edit(
    _ location: MessageLocation, _ edit: MessageEdit?, in id: RoomID, _ position: LogPosition
  ) throws {
    guard let room = try room(id), var indexedText = try indexedText(at: location, in: room) else { return }
    try erase(indexedText.position)
    indexedText.position = position
    indexedText.edit(edit)
    try add(indexedText)
  }

  private mutating func add(_ indexedText: IndexedText) throws {
    try insertIndexedText.run(
      indexedText.position, indexedText.room, indexedText.location, indexedText.sender, indexedText.sentAt,
      indexedText.hasMedia, indexedText.type.bytes, Int64(indexedText.nameBytes), indexedText.text, indexedText.extra)
    try insertPlace.run(indexedText.room, indexedText.location, indexedText.position)
    try open(SearchShard(of: indexedText.position))
    shard?.note(indexedText.sentAt)
    guard let insertion = shard?.insertion, !indexedText.isEmpty else { return }
    document.set(indexedText)
    try SearchShard.insert(document, at: indexedText.position, insertion)
  }

  /// Opens the shard, and creates it if necessary. The previous shard gets no more indexed texts.
  private mutating func open(_ next: SearchShard) throws {
    if shard?.shard.number == next.number { return }
    try shard?.write(database)
    shard = try OpenShard(next, isIndexed: isIndexed, database)
  }

  /// The current indexed text of a message. Nil if the message was deleted or does not exist.
  private func indexedText(at location: MessageLocation, in room: Room) throws -> IndexedText? {
    let current = try CachedStatement(
      database, "SELECT wording FROM place WHERE room = ? AND thread = ? AND ordinal = ?"
    ).first(room.number, location) { try $0.position() }
    guard let current else { return nil }
    return try CachedStatement(database, "SELECT \(IndexedText.columns) FROM wording WHERE position = ? AND isGone = 0")
      .first(current) { try IndexedText(&$0) }
  }

  /// The shard still contains the words of the text until it is rebuilt.
  private mutating func erase(_ position: LogPosition) throws {
    if try IndexedText.erase(at: position, database) { stale.insert(SearchShard(of: position).number) }
  }
}

/// The shard that indexed texts are added to.
private struct OpenShard {
  let shard: SearchShard
  /// Nil if the full-text index is not updated.
  let insertion: CachedStatement?
  /// The sending times of the indexed texts that this batch adds.
  private var earliest: Timestamp?
  private var latest: Timestamp?

  init(_ shard: SearchShard, isIndexed: Bool, _ database: Database) throws {
    self.shard = shard
    if isIndexed, try !Self.exists(shard, database) {
      try SearchShard.all(database).last?.seal(database)
      try shard.create(database)
    }
    insertion = isIndexed ? try shard.insertion(database) : nil
  }

  private static func exists(_ shard: SearchShard, _ database: Database) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM shard WHERE number = ?").exists(shard.number)
  }

  mutating func note(_ time: Timestamp) {
    earliest = min(earliest ?? time, time)
    latest = max(latest ?? time, time)
  }

  /// The times cover all indexed texts that were ever added. A search for other times skips the shard.
  func write(_ database: Database) throws {
    guard let earliest, let latest else { return }
    try CachedStatement(
      database,
      """
      INSERT INTO shard (number, earliest, latest) VALUES (?, ?, ?)
      ON CONFLICT (number) DO UPDATE
      SET earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)
      """
    ).run(shard.number, earliest, latest)
  }
}
