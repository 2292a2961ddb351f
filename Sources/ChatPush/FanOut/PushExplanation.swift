package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import EventStore
import GRDB

/// Explains who was notified of an event, and why the others were not. It only needs the log, so it works for events of
/// any age.
package struct PushExplanation: Sendable, Hashable {
  /// The number of events that are read at once.
  fileprivate static let batchEvents = 4096

  package let event: PushEvent
  /// For each device of everyone who was, had been or later became a member of the room, the decision as of that event.
  /// For an event that concerns one user, only that user's devices.
  package let decisions: [FanOut.DeviceDecision]
  /// The states of the notifications that were decided on; empty if push was not switched on then.
  package let fates: [PushNotificationKey: Fate]

  /// The state of one notification.
  package enum Fate: Sendable, Hashable {
    /// Not settled yet.
    case waiting
    case settled(Outcome)
  }

  package struct Outcome: Sendable, Hashable {
    package var result: PushResult
    package var reason: PushAbandonment?
    /// What the provider responded, if the notification was not delivered.
    package var response: String?
    /// When it was recorded, at most about a second after the provider's response.
    package var recorded: Timestamp
  }

  /// Reads the whole log and keeps what it needs in memory: the state of the rooms up to the event, and from then on who
  /// joined the room and the outcomes of the notifications.
  ///
  /// - Parameter progress: receives the number of events read so far.
  /// - Throws: `PushExplanationError`, or an error of the log.
  package init(
    of position: LogPosition, in feed: any EventFeed, progress: (UInt64) -> Void = { _ in }
  ) throws {
    let queue = try DatabaseQueue()
    let found: (event: PushEvent, decisions: [FanOut.DeviceDecision], fates: [PushNotificationKey: Fate])?
    found = try queue.write { database in
      try PushProjection.createTables(database)
      try PushProjection.createIndexes(database)
      guard let (event, wasScheduled) = try Self.apply(through: position, of: feed, to: database, progress) else {
        return nil
      }
      let queries = RecipientQueries(database)
      var recipients = try queries.recipients(of: event, .all) + queries.formerMembers(for: event)
      let known = Set(recipients.map(\.user))
      let later = try LaterEvents(of: event, in: feed, progress)
      for user in later.members.subtracting(known).sorted() {
        recipients.append(try queries.recipient(user, of: event))
      }
      let rooms = RoomsQueries(database)
      let context = try FanOut.RoomContext(of: event, wasScheduled: wasScheduled, rooms)
      let decisions = try FanOut.decisions(on: event, in: context, for: recipients) {
        try rooms.badge(of: $0, at: event.time)
      }
      let isSwitchedOn = try OutboxWriter(database).isSwitchedOn()
      return (event, decisions, isSwitchedOn ? later.fates(of: decisions) : [:])
    }
    guard let found else { throw PushExplanationError.notifiesNobody(position, head: feed.head) }
    event = found.event
    decisions = found.decisions
    fates = found.fates
  }

  /// - Returns: the event at `position`, and whether it is a message that was scheduled; nil if it notifies nobody.
  private static func apply(
    through position: LogPosition, of feed: any EventFeed, to database: Database, _ progress: (UInt64) -> Void
  ) throws -> (event: PushEvent, wasScheduled: Bool)? {
    guard position > .origin, position <= feed.head else { return nil }
    var projection = PushProjection()
    var last = LogPosition.origin
    while last < position {
      var events = try feed.events(after: last, limit: batchEvents).filter { $0.position <= position }
      guard let end = events.last else { return nil }
      last = end.position
      guard last == position else {
        try projection.apply(events[...], to: database)
        progress(last.value)
        continue
      }
      // The event itself is applied separately: only before that do the tables show whether its message was scheduled.
      events.removeLast()
      try projection.apply(events[...], to: database)
      var wasScheduled = false
      if case .room(let room, .messages(.sent(let message, _, _, _))) = end.event {
        wasScheduled = try RoomsQueries(database).scheduledMessage(message, of: room) != nil
      }
      try projection.apply([end], to: database)
      progress(last.value)
      return PushEvent(end).map { ($0, wasScheduled) }
    }
    return nil
  }
}

/// What later events say about the notifications of an event: who joined its room, and the outcomes.
private struct LaterEvents {
  private let event: PushEvent
  /// The users who joined its room.
  private(set) var members: Set<UserID> = []
  private var outcomes: [PushNotificationKey: PushExplanation.Fate] = [:]
  /// When it was recorded that all notifications of the event are settled.
  private var settled: Timestamp?

  init(of event: PushEvent, in feed: any EventFeed, _ progress: (UInt64) -> Void) throws {
    self.event = event
    var last = event.position
    while case let events = try feed.events(after: last, limit: PushExplanation.batchEvents), let end = events.last {
      for recorded in events { take(recorded) }
      last = end.position
      progress(last.value)
    }
  }

  private mutating func take(_ recorded: RecordedEvent) {
    switch recorded.event {
    case .room(let room, let later): if room == event.room, event.onlyUser == nil { take(later) }
    case .server(let later): take(later, at: recorded.stamp.time)
    case .user, .workspace: break
    }
  }

  private mutating func take(_ later: RoomEvent) {
    switch later {
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      members.insert(user)
    case .members(.admissionRepeated), .members(.left), .members(.removed), .members(.banned), .members(.unbanned),
      .members(.roleChanged), .members(.silenced), .members(.muted), .members(.notificationsSet), .lifecycle, .sharing,
      .messages, .annotations, .reading, .threads, .scheduling, .reports, .erased:
      break
    }
  }

  private mutating func take(_ later: ServerEvent, at time: Timestamp) {
    switch later {
    case .pushOutcomesRecorded(let recorded):
      if settled == nil, recorded.settledThrough >= event.position { settled = time }
      for outcome in recorded.outcomes where outcome.position == event.position {
        let key = PushNotificationKey(position: outcome.position, user: outcome.user, device: outcome.device)
        outcomes[key] = .settled(
          PushExplanation.Outcome(
            result: outcome.result, reason: outcome.reason, response: outcome.response, recorded: time))
      }
    case .signingKeyRotated, .erased:
      break
    }
  }

  /// A notification that is settled and has no outcome of its own was delivered.
  func fates(of decisions: [FanOut.DeviceDecision]) -> [PushNotificationKey: PushExplanation.Fate] {
    let rest: PushExplanation.Fate =
      settled.map { .settled(PushExplanation.Outcome(result: .delivered, recorded: $0)) } ?? .waiting
    var fates: [PushNotificationKey: PushExplanation.Fate] = [:]
    for decision in decisions {
      guard case .notify = decision.decision else { continue }
      let key = PushNotificationKey(position: event.position, user: decision.user, device: decision.device)
      fates[key] = outcomes[key] ?? rest
    }
    return fates
  }
}

package enum PushExplanationError: Error, Sendable, Hashable, CustomStringConvertible {
  case notifiesNobody(LogPosition, head: LogPosition)

  package var description: String {
    switch self {
    case .notifiesNobody(let position, let head):
      position > head || position == .origin
        ? "position \(position) does not exist; the log has positions 1 to \(head)"
        : "the event at position \(position) is of a type that notifies nobody"
    }
  }
}
