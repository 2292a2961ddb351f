package import ChatDomain
import ChatPrimitives
package import EventLog
import Synchronization

/// Where the replies of erased users are in their threads.
///
/// Only the payload of a reply names its thread, and it is gone with the text. But an erasure deletes each message before
/// it erases the payload, and the record of the deletion is kept: it has the reply's ordinal and that of the root. The
/// root's ID and author are in the envelope of the message that took that ordinal. So nothing else has to be stored.
///
/// The first erased reply of a room makes all of that room's records be read, twice. The result is remembered.
package final class ErasedReplies: Sendable {
  private static let sent = RoomEvent.Messages.sentKind.number
  private static let sentInThread = RoomEvent.Messages.sentInThreadKind.number
  private static let deleted = RoomEvent.Messages.deletedKind.number
  /// The maximum number of replies that are remembered for all rooms together.
  private static let rememberedReplies = 200_000

  /// The value is nil for a reply whose thread is unknown.
  private typealias Locations = [MessageID: ThreadLocation?]

  private let remembered = Mutex<[RoomID: Locations]>([:])

  package init() {}

  /// - Parameter decoded: the event of the record.
  /// - Returns: the same event, unless the record is a reply without its payload: then the reply without its content.
  /// - Throws: the errors of `BlockSource.block(containing:)`; `CodecError` for a deletion that cannot be read.
  func restored(_ decoded: RecordedEvent, from record: LogRecord, in source: some BlockSource) throws -> RecordedEvent {
    guard record.envelope.kind == Self.sentInThread, record.payload.retained == nil,
      case .room(let room, .erased) = decoded.event, let author = decoded.actor,
      let message = record.envelope.subject.map({ MessageID($0) }),
      let thread = try location(of: message, in: room, source)
    else { return decoded }
    return RecordedEvent(
      stamp: decoded.stamp, version: decoded.version, actor: decoded.actor, service: decoded.service,
      device: decoded.device, command: decoded.command, originalTime: decoded.originalTime,
      event: .room(room, .messages(.sent(message, author: author, thread: thread, nil))))
  }

  private func location(
    of message: MessageID, in room: RoomID, _ source: some BlockSource
  ) throws -> ThreadLocation? {
    if let known = remembered.withLock({ $0[room]?[message] }) { return known }
    let found = try Self.locations(in: room, source)
    remembered.withLock { remembered in
      let count = remembered.values.reduce(found.count) { $0 + $1.count }
      if count > Self.rememberedReplies { remembered.removeAll() }
      remembered[room] = found
    }
    return found[message] ?? nil
  }

  // MARK: - Reading

  private static func locations(in room: RoomID, _ source: some BlockSource) throws -> Locations {
    var erased: [MessageID: LogRecord] = [:]
    var locations: [MessageID: MessageLocation] = [:]
    var isDeleted = false
    try forEachRecord(of: room, source) { record in
      guard let subject = record.envelope.subject.map({ MessageID($0) }) else {
        isDeleted = isDeleted || record.envelope.kind == ErasureRule.roomDeleted
        return true
      }
      if record.envelope.kind == sentInThread, record.payload.retained == nil { erased[subject] = record }
      if record.envelope.kind == deleted, erased[subject] != nil,
        case .room(_, .messages(.deleted(_, let location))) = try EventCodec.decode(record).event
      {
        locations[subject] = location
      }
      return true
    }
    let roots = try roots(at: Set(locations.values.map(\.thread)), in: room, source)
    var found: Locations = [:]
    for (message, record) in erased {
      let place = locations[message]
      found[message] = place.flatMap { place in
        roots[place.thread].map { ThreadLocation(root: $0.root, rootAuthor: $0.author, ordinal: place.ordinal) }
      }
      // The erasure deletes no message of a room that is deleted already.
      if place == nil, isDeleted { found[message] = standIn(for: message, record) }
    }
    return found
  }

  /// The messages with these ordinals in the room's own timeline.
  private static func roots(
    at ordinals: Set<UInt64>, in room: RoomID, _ source: some BlockSource
  ) throws -> [UInt64: (root: ThreadRoot, author: UserID)] {
    var roots: [UInt64: (root: ThreadRoot, author: UserID)] = [:]
    guard !ordinals.isEmpty else { return roots }
    var ordinal: UInt64 = 0
    try forEachRecord(of: room, source) { record in
      guard record.envelope.kind == sent else { return true }
      ordinal += 1
      if ordinals.contains(ordinal), let message = record.envelope.subject, let author = record.envelope.actor {
        roots[ordinal] = (ThreadRoot(message: MessageID(message), ordinal: ordinal), UserID(author))
      }
      return roots.count < ordinals.count
    }
    return roots
  }

  /// A thread of its own, beyond every ordinal that is in use. Read models remove its rows with those of the deleted
  /// room; only the reply's ID counts.
  private static func standIn(for message: MessageID, _ record: LogRecord) -> ThreadLocation? {
    record.envelope.actor.map { author in
      let root = ThreadRoot(message: message, ordinal: UInt64(Int64.max) - record.position.value)
      return ThreadLocation(root: root, rootAuthor: UserID(author), ordinal: 1)
    }
  }

  /// - Parameter body: returns false to end.
  private static func forEachRecord(
    of room: RoomID, _ source: some BlockSource, _ body: (LogRecord) throws -> Bool
  ) throws {
    let head = source.head
    var blocks = StreamBlocks(source, stream: room.uuid, from: .first, through: head)
    while let block = try blocks.next() {
      for record in block.records
      where record.envelope.stream == room.uuid && record.envelope.streamKind == StreamKind.room.rawValue
        && record.position <= head
      {
        guard try body(record) else { return }
      }
    }
  }
}
