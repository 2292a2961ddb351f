package import ChatDomain
import ChatPrimitives
package import EventLog
import Synchronization

/// Finds the threads of replies whose payload was erased.
///
/// Only the payload of a reply names its thread. But an erasure deletes each message before it erases the payload, and
/// the record of the deletion is kept: it has the ordinals of the reply and of the thread's root. The ID and the author of
/// the root are in the envelope of the message with that ordinal. So nothing else has to be stored.
///
/// For the first erased reply of a room, all records of the room are read, twice. The result is remembered.
package final class ErasedReplies: Sendable {
  private static let sent = RoomEvent.Messages.sentKind.number
  private static let sentInThread = RoomEvent.Messages.sentInThreadKind.number
  private static let deleted = RoomEvent.Messages.deletedKind.number
  /// The maximum number of replies that are remembered for all rooms together.
  private static let rememberedReplies = 200_000

  /// The erased replies of a room. The value is nil for a reply whose thread is unknown.
  private typealias ThreadLocations = [MessageID: ThreadLocation?]

  private let remembered = Mutex<[RoomID: ThreadLocations]>([:])

  package init() {}

  /// - Parameter decoded: the event of the record.
  /// - Returns: `decoded`, unless the record is a reply whose payload was erased: then the reply, in its thread, without
  ///   content.
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
    let found = try Self.threadLocations(in: room, source)
    remembered.withLock { remembered in
      let count = remembered.values.reduce(found.count) { $0 + $1.count }
      if count > Self.rememberedReplies { remembered.removeAll() }
      remembered[room] = found
    }
    return found[message] ?? nil
  }

  // MARK: - Reading

  private static func threadLocations(in room: RoomID, _ source: some BlockSource) throws -> ThreadLocations {
    var erased: [MessageID: LogRecord] = [:]
    var deletions: [MessageID: MessageLocation] = [:]
    var isRoomDeleted = false
    try forEachRecord(of: room, source) { record in
      guard let message = record.envelope.subject.map({ MessageID($0) }) else {
        isRoomDeleted = isRoomDeleted || record.envelope.kind == ErasureRule.roomDeleted
        return true
      }
      if record.envelope.kind == sentInThread, record.payload.retained == nil { erased[message] = record }
      if record.envelope.kind == deleted, erased[message] != nil,
        case .room(_, .messages(.deleted(_, let location))) = try EventCodec.decode(record).event
      {
        deletions[message] = location
      }
      return true
    }
    let roots = try roots(at: Set(deletions.values.map(\.thread)), in: room, source)
    var found: ThreadLocations = [:]
    for (message, record) in erased {
      let thread: ThreadLocation?
      if let location = deletions[message] {
        thread = roots[location.thread].map { root in
          ThreadLocation(root: root.root, rootAuthor: root.author, ordinal: location.ordinal)
        }
      } else {
        // An erasure deletes no messages of a room that was deleted before.
        thread = isRoomDeleted ? standIn(for: message, record) : nil
      }
      found.updateValue(thread, forKey: message)
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

  /// A location for a reply in a deleted room: in a thread of its own, whose root's ordinal is beyond all that are in use.
  /// Read models remove the rows of this thread with those of the room. Only the reply's ID matters.
  private static func standIn(for message: MessageID, _ record: LogRecord) -> ThreadLocation? {
    record.envelope.actor.map { author in
      let root = ThreadRoot(message: message, ordinal: UInt64(Int64.max) - record.position.value)
      return ThreadLocation(root: root, rootAuthor: UserID(author), ordinal: 1)
    }
  }

  /// Reads the room's records in order.
  /// - Parameter body: returns false to stop.
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
