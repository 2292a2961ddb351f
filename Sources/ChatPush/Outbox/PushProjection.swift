package import ChatDomain
import ChatPrimitives
package import ChatProjections
package import GRDB

/// The outbox: which devices still have to be notified of which messages.
///
/// A message with notifications adds a row for each device to the outbox, in the transaction that moves the checkpoint
/// past the message. So all notifications up to the checkpoint have been enumerated. Outcomes in the log remove rows.
/// So if the file is lost, it is rebuilt from the log with only the rows that are not settled.
///
/// It also has the tables of `rooms`, updated up to each message, so that the badge is computed by the same code. The tables
/// `report` and `change` stay empty. Nothing is enumerated before the first outcomes in the log: recording them switches push on.
package struct PushProjection: Projection {
  package typealias Queries = PushQueries

  package static let name = "push"
  package static let schemaVersion = 9
  package static let secretColumns: Set<String> = [
    "pushDevice.apnsToken", "pushDevice.fcmToken", "pushDevice.webPushToken",
  ]

  package static let bulkDeletedRows =
    RoomsProjection.bulkDeletedRows.map(\.withoutTombstone) + [
      BulkDeletion.RowSet(scope: .room, table: "recipient", owner: "roomId", key: "userId"),
      BulkDeletion.RowSet(scope: .room, table: "formerMember", owner: "roomId", key: "userId"),
      BulkDeletion.RowSet(scope: .room, table: "notificationMessage", owner: "roomId", key: "messageId"),
    ]

  /// The number of rows at which a transaction ends, after the message that reaches it. Each user with rows costs the
  /// computation of a badge.
  package static let rowsPerTransaction = 20_000

  private var rooms = RoomsProjection(.counts)
  /// Nil until it is read from the file.
  private var isSwitchedOn: Bool?
  private let rowsPerTransaction: Int

  package static let needsUpkeep = true

  package init() { self.init(rowsPerTransaction: Self.rowsPerTransaction) }

  init(rowsPerTransaction: Int) { self.rowsPerTransaction = rowsPerTransaction }

  package static func createTables(_ database: Database) throws {
    try RoomsProjection.createTables(database)
    try PushTables.create(database)
  }

  package static func createIndexes(_ database: Database) throws {
    try RoomsProjection.createIndexes(database)
    try PushTables.createIndexes(database)
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var rest = events
    while !rest.isEmpty { rest = rest.dropFirst(try applyFirst(of: rest, to: database)) }
  }

  package mutating func applyFirst(of events: ArraySlice<RecordedEvent>, to database: Database) throws -> Int {
    let outbox = OutboxWriter(database)
    let writer = RecipientsWriter(database)
    var isOn = try isSwitchedOn ?? outbox.isSwitchedOn()
    // The first event that is not applied to the rooms' tables yet.
    var waiting = events.startIndex
    var end = events.endIndex
    var rows = 0
    for (index, recorded) in zip(events.indices, events) {
      switch recorded.event {
      case .user(let user, let event):
        if try writer.needsMembers(for: event, of: user) {
          try rooms.apply(events[waiting..<index], to: database)
          waiting = index
        }
        try writer.apply(event, of: user, at: recorded.position)
      case .room(let room, let event):
        try writer.apply(event, in: room, at: recorded.position)
        if isOn { try outbox.apply(event, in: room) }
        guard isOn, let message = FanOut.SentMessage(recorded), message.silence == nil,
          try writer.hasRecipients(in: room)
        else { continue }
        let next = events.index(after: index)
        try rooms.apply(events[waiting..<next], to: database)
        waiting = next
        rows += try enumerate(message, writer, outbox, database)
        if rows >= rowsPerTransaction { end = next }
      case .workspace:
        break
      case .server(let event):
        if try outbox.apply(event, at: recorded.position) { isOn = true }
      }
      if events.index(after: index) == end { break }
    }
    if waiting < end { try rooms.apply(events[waiting..<end], to: database) }
    isSwitchedOn = isOn
    return events.distance(from: events.startIndex, to: end)
  }

  package mutating func upkeep(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome {
    try rooms.upkeep(database, isIdle: isIdle)
  }

  private func enumerate(
    _ message: FanOut.SentMessage, _ writer: RecipientsWriter, _ outbox: OutboxWriter, _ database: Database
  ) throws -> Int {
    let queries = RoomsQueries(database)
    let context = try FanOut.RoomContext(of: message, queries)
    let decisions = try FanOut.decisions(on: message, in: context, for: writer.recipients(of: message)) { user in
      try queries.badge(of: user, at: message.time)
    }
    return try outbox.add(message, in: context, decisions, roomName: queries.room(message.room)?.name ?? "", queries)
  }
}

extension FanOut.RoomContext {
  /// - Parameter rooms: must include the message and nothing after it.
  init(of message: FanOut.SentMessage, _ rooms: RoomsQueries) throws {
    self.init(
      isDirect: try rooms.room(message.room)?.kind == .direct,
      followers: try message.thread.map { try rooms.followers(ofThread: $0.ordinal, in: message.room) } ?? [])
  }
}
