package import ChatDomain
import ChatPrimitives
package import ChatProjections
package import GRDB

/// The outbox: which devices still have to be notified of which events.
///
/// An event with notifications adds a row for each device to the outbox, in the transaction that moves the checkpoint
/// past the event. So no event up to the checkpoint adds another notification. Outcomes in the log remove rows.
/// So if the file is lost, it is rebuilt from the log with only the rows that are not settled.
///
/// It also has the tables of `rooms`, applied up to each such event, so that the same code computes the badge. Of these,
/// `report`, `roomCustom` and `change` stay empty. No rows are added before the first event with outcomes in the log,
/// which switches push on.
package struct PushProjection: Projection {
  package typealias Queries = PushQueries

  package static let name = "push"
  package static let schemaVersion = 15
  package static let secretColumns: Set<String> = [
    "pushDevice.apnsToken", "pushDevice.fcmToken", "pushDevice.webPushToken",
  ]

  package static let bulkDeletedRows =
    RoomsProjection.bulkDeletedRows.map(\.withoutTombstone) + [
      BulkDeletion.RowSet(scope: .room, table: "recipient", owner: "roomId", key: "userId"),
      BulkDeletion.RowSet(scope: .room, table: "formerMember", owner: "roomId", key: "userId"),
      BulkDeletion.RowSet(scope: .room, table: "crowdedChange", owner: "roomId", key: "position"),
      BulkDeletion.RowSet(scope: .room, table: "pushContent", owner: "roomId", key: "position"),
    ]

  /// A transaction ends after the event with which it has this number of rows, so that none takes too long.
  package static let rowsPerTransaction = 20_000

  private var rooms = RoomsProjection(.counts)
  /// Nil until it is read from the file.
  private var isSwitchedOn: Bool?
  private let rowsPerTransaction: Int
  private let explained: PushEvent?

  package static let needsUpkeep = true

  package init() { self.init(rowsPerTransaction: Self.rowsPerTransaction) }

  /// - Parameter explained: if not nil, the outbox stays empty, and only the state that the decisions on this event need is
  ///   kept. This is much faster, because nothing is decided.
  init(rowsPerTransaction: Int = Self.rowsPerTransaction, explaining explained: PushEvent? = nil) {
    self.rowsPerTransaction = rowsPerTransaction
    self.explained = explained
  }

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
    let recipients = RecipientQueries(database)
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
      case .workspace:
        break
      case .server(let event):
        if try outbox.apply(event, at: recorded.position) { isOn = true }
      }
      if let explained {
        if isOn, explained.isFrequent, let event = PushEvent(recorded), event.isOfSamePeriod(as: explained) {
          try writer.note(event)
        }
      } else if isOn, let event = PushEvent(recorded), try recipients.mayNotify(event) {
        var removed = RemovedState()
        if recorded.mayRemoveState {
          try rooms.apply(events[waiting..<index], to: database)
          waiting = index
          removed = try RemovedState(by: recorded, RoomsQueries(database))
        }
        let next = events.index(after: index)
        try rooms.apply(events[waiting..<next], to: database)
        waiting = next
        try writer.note(event)
        rows += try addNotifications(of: event, removed, recipients, outbox, database)
        if rows >= rowsPerTransaction { end = next }
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

  private func addNotifications(
    of event: PushEvent, _ removed: RemovedState, _ recipients: RecipientQueries, _ outbox: OutboxWriter,
    _ database: Database
  ) throws -> Int {
    let queries = RoomsQueries(database)
    let context = try FanOut.RoomContext(of: event, removed, queries, recipients)
    let recipients = try recipients.recipients(of: event, in: context, .notifiable)
    let decisions = FanOut.decisions(on: event, in: context, for: recipients)
    return try outbox.add(event, decisions, for: recipients, queries)
  }
}

/// State that an event removes from the tables of `rooms`. It is read before the event is applied.
struct RemovedState {
  /// Whether the event sends a message that was scheduled.
  var wasScheduled = false
  /// The mentions of the deleted message, if it was in a thread.
  var mentions = Mentions()

  init() {}

  /// - Parameter rooms: must include the events before this one, and not the event itself.
  init(by recorded: RecordedEvent, _ rooms: RoomsQueries) throws {
    guard recorded.mayRemoveState else { return }
    switch recorded.event {
    case .room(let room, .messages(.sent(let message, _, _, _))):
      wasScheduled = try rooms.scheduledMessage(message, of: room) != nil
    case .room(let room, .messages(.deleted(_, let location))):
      mentions = try rooms.mentions(at: location, in: room)
    case .room, .workspace, .user, .server: break
    }
  }
}

extension PushEvent {
  /// Whether the decision on the other one can depend on this one, because the room is crowded.
  fileprivate func isOfSamePeriod(as other: PushEvent) -> Bool { room == other.room && period == other.period }
}

extension RecordedEvent {
  /// Whether it can remove such state. Only services send scheduled messages.
  fileprivate var mayRemoveState: Bool {
    switch event {
    case .room(_, .messages(.sent)): service != nil
    case .room(_, .messages(.deleted(_, let location))): location.isInThread
    case .room, .workspace, .user, .server: false
    }
  }
}

extension FanOut.RoomContext {
  /// - Parameter rooms: must include the event and nothing after it, like `recipients`.
  init(
    of event: PushEvent, _ removed: RemovedState, _ rooms: RoomsQueries, _ recipients: RecipientQueries
  ) throws {
    self.init(
      wasScheduled: removed.wasScheduled, deletedMentions: removed.mentions,
      leavesOutChanges: try recipients.leavesOutChange(of: event))
    switch event.change {
    case .message(let room, let message):
      isDirect = try rooms.room(room)?.kind == .direct
      if let thread = message.thread { followers = try rooms.followers(ofThread: thread.ordinal, in: room) }
    case .deletion(let room, _, let location) where location.isInThread:
      isDirect = try rooms.room(room)?.kind == .direct
      followers = try rooms.followers(ofThread: location.thread, in: room)
    case .deletion, .reaction, .added, .departed, .reading, .invitation, .room, .blocks: break
    }
  }
}
