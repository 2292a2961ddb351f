package import ChatDomain
import ChatPrimitives
import ChatProjections
package import GRDB

/// Which device still has to be told of which message.
///
/// For each message that notifies, the outbox gets a row per device, in the transaction that moves the checkpoint over
/// the message: the checkpoint is the position up to which fan-out has been enumerated. Outcomes that stand in the log
/// take rows away again. So a lost file comes back from the log with those rows alone that are not settled.
///
/// It keeps the tables of `rooms` too, applied up to the very message, so that the badge comes from the one code that
/// counts. Nothing is enumerated before the first outcomes in the log: recording those is how push is switched on.
package struct PushProjection: Projection {
  package typealias Queries = PushQueries

  package static let name = "push"
  package static let schemaVersion = 1
  package static let secretColumns: Set<String> = ["pushDevice.apnsToken", "pushDevice.fcmToken"]

  private var rooms = RoomsProjection()
  /// nil until it was read from the file.
  private var isSwitchedOn: Bool?

  package init() {}

  package static func createTables(_ database: Database) throws {
    try RoomsProjection.createTables(database)
    try PushTables.create(database)
  }

  package static func createIndexes(_ database: Database) throws {
    try RoomsProjection.createIndexes(database)
    try PushTables.createIndexes(database)
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    let outbox = OutboxWriter(database)
    let audience = AudienceWriter(database)
    var isOn = try isSwitchedOn ?? outbox.isSwitchedOn()
    // What the rooms' tables do not know yet.
    var waiting = events.startIndex
    for (index, recorded) in zip(events.indices, events) {
      switch recorded.event {
      case .user(let user, let event):
        if try audience.needsMembers(for: event, of: user) {
          try rooms.apply(events[waiting..<index], to: database)
          waiting = index
        }
        try audience.apply(event, of: user, at: recorded.position)
      case .room(let room, let event):
        try audience.apply(event, in: room, at: recorded.position)
        guard isOn, let message = FanOut.SentMessage(recorded), message.silence == nil, try audience.hears(room)
        else { continue }
        let next = events.index(after: index)
        try rooms.apply(events[waiting..<next], to: database)
        waiting = next
        try enumerate(message, audience, outbox, database)
      case .workspace:
        break
      case .server(let event):
        if try outbox.apply(event, at: recorded.position) { isOn = true }
      }
    }
    if waiting < events.endIndex { try rooms.apply(events[waiting...], to: database) }
    isSwitchedOn = isOn
  }

  private func enumerate(
    _ message: FanOut.SentMessage, _ audience: AudienceWriter, _ outbox: OutboxWriter, _ database: Database
  ) throws {
    let queries = RoomsQueries(database)
    let verdicts = try FanOut.verdicts(on: message, for: audience.listeners(of: message.room)) { user in
      try queries.badge(of: user, at: message.time)
    }
    try outbox.add(message, verdicts, roomName: queries.room(message.room)?.name ?? "", queries)
  }
}
