package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import EventStore
import GRDB

/// Explains who was notified of an event, and why the others were not. It only needs the log, so it works for events of
/// any age.
package struct PushExplanation: Sendable, Hashable {
  /// The number of events that are read at once.
  static let batchEvents = 4096
  /// The part of the state that is in memory. The rest is in a temporary file, because a server can have more state than
  /// memory.
  private static let cacheKiB = 64 * 1024

  package let event: PushEvent
  /// For each device of everyone who was, had been or later became a member of the room, the decision as of that event.
  /// For an event that concerns one user, only that user's devices.
  package let decisions: [FanOut.DeviceDecision]
  /// The badge right after the event, for each user with a device that is notified.
  package let badges: [UserID: UInt64]
  /// Whether there are more devices than `limit`.
  package let hasMore: Bool
  /// The states of the notifications that were decided on; empty if push was not switched on then.
  package let states: [PushNotificationKey: State]
  /// The end of the log when reading began. What was recorded after it is not included.
  package let head: LogPosition

  /// The state of one notification.
  package enum State: Sendable, Hashable {
    /// Not settled yet.
    case waiting
    case settled(Outcome)
  }

  package struct Outcome: Sendable, Hashable {
    package var result: PushResult
    package var reason: PushAbandonment?
    /// What the provider responded, if the notification was not delivered, or why its last attempt failed.
    package var response: String?
    /// When it was recorded, at most about a second after the provider's response.
    package var recorded: Timestamp
  }

  /// Reads the whole log. Keeps the state of the rooms up to the event, and from then on who joined the room and the
  /// outcomes of the notifications. Blocks.
  ///
  /// - Parameters:
  ///   - user: the only user whose devices are explained; nil for all.
  ///   - limit: the most devices that are explained. A user has no more than `Limits.devicesPerUser`.
  ///   - progress: receives the number of events read so far, after each batch. Reading ends if it throws.
  /// - Throws: `PushExplanationError`, an error of the log, or what `progress` throws.
  package init(
    of position: LogPosition, in feed: any EventFeed, for user: UserID? = nil, limit: Int = .max,
    progress: (UInt64) throws -> Void = { _ in }
  ) throws {
    let head = feed.head
    let event = try Self.event(at: position, in: feed, head)
    let found = try Self.makeDatabase().write { database in
      try PushProjection.createTables(database)
      try PushProjection.createIndexes(database)
      let removed = try Self.apply(through: event, of: feed, to: database, progress)
      let later = try LaterEvents(of: event, in: feed, through: head, progress)
      let (rooms, queries) = (RoomsQueries(database), RecipientQueries(database))
      let context = try FanOut.RoomContext(of: event, removed, rooms, queries)
      var recipients = try Self.recipients(of: event, in: context, user, queries, later)
      let hasMore = Self.cut(&recipients, to: limit)
      let decisions = FanOut.decisions(on: event, in: context, for: recipients)
      var badges: [UserID: UInt64] = [:]
      for user in Set(decisions.filter(\.isNotified).map(\.user)) {
        badges[user] = try rooms.badge(of: user, at: event.time)
      }
      let isSwitchedOn = try OutboxWriter(database).isSwitchedOn()
      return (
        decisions: decisions, badges: badges, hasMore: hasMore,
        states: isSwitchedOn ? later.states(of: decisions) : [:]
      )
    }
    self.head = head
    self.event = event
    decisions = found.decisions
    badges = found.badges
    hasMore = found.hasMore
    states = found.states
  }

  /// Reads only this event, so that a wrong position costs little.
  private static func event(at position: LogPosition, in feed: any EventFeed, _ head: LogPosition) throws -> PushEvent {
    guard position > .origin, position <= head,
      let recorded = try feed.events(after: LogPosition(position.value - 1), limit: 1).first
    else { throw PushExplanationError.unknownPosition(position, head: head) }
    guard let event = PushEvent(recorded) else { throw PushExplanationError.notifiesNobody(position) }
    return event
  }

  /// An empty database in a temporary file that no other process can open: SQLite deletes it while it is open.
  private static func makeDatabase() throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -\(cacheKiB)")
      try database.execute(sql: "PRAGMA journal_mode = MEMORY")
    }
    return try DatabaseQueue(path: "", configuration: configuration)
  }

  /// - Returns: what the last event removed.
  private static func apply(
    through event: PushEvent, of feed: any EventFeed, to database: Database, _ progress: (UInt64) throws -> Void
  ) throws -> RemovedState {
    let position = event.position
    var projection = PushProjection(explaining: event)
    var last = LogPosition.origin
    while case var events = try feed.events(after: last, limit: batchEvents).filter({ $0.position <= position }),
      let end = events.last
    {
      last = end.position
      // The last event is applied separately: the state that it removes is read first.
      if last == position { events.removeLast() }
      try projection.apply(events[...], to: database)
      try progress(last.value)
      guard last == position else { continue }
      let removed = try RemovedState(by: end, RoomsQueries(database))
      try projection.apply([end], to: database)
      return removed
    }
    return RemovedState()
  }

  /// Members come first, then former members, then those who joined later, each ordered by ID.
  private static func recipients(
    of event: PushEvent, in context: FanOut.RoomContext, _ user: UserID?, _ queries: RecipientQueries,
    _ later: LaterEvents
  ) throws -> [FanOut.Recipient] {
    if let user {
      if let only = event.onlyUser { return only == user ? [try queries.recipient(user, of: event)] : [] }
      let recipient = try queries.recipient(user, of: event)
      let isConcerned = recipient.membership != .joinsLater || later.joined.contains(user)
      return isConcerned ? [recipient] : []
    }
    var recipients = try queries.recipients(of: event, in: context, .all) + queries.formerMembers(for: event)
    for user in later.joined.subtracting(recipients.map(\.user)).sorted() {
      recipients.append(try queries.recipient(user, of: event))
    }
    return recipients
  }

  /// Keeps the first `limit` devices.
  /// - Returns: whether there were more.
  private static func cut(_ recipients: inout [FanOut.Recipient], to limit: Int) -> Bool {
    var free = limit
    for (index, recipient) in recipients.enumerated() {
      guard recipient.devices.count > free else {
        free -= recipient.devices.count
        continue
      }
      recipients[index].devices.removeLast(recipient.devices.count - free)
      recipients.removeSubrange((index + 1)...)
      return true
    }
    return false
  }
}
