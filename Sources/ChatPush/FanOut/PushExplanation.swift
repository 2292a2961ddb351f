package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import EventStore
import GRDB

/// Explains who was notified of a message and why the others were not. It only needs the log, so it works for messages
/// of any age.
package struct PushExplanation: Sendable, Hashable {
  /// The number of events that are read at once.
  fileprivate static let batchEvents = 4096

  package let message: FanOut.SentMessage
  /// For each device of everyone who was, had been or later became a member, the decision as of that message.
  package let decisions: [FanOut.DeviceDecision]
  /// The states of the notifications that were decided on; empty if push was not switched on then.
  package let fates: [PushNotificationKey: Fate]

  /// The state of one notification.
  package enum Fate: Sendable, Hashable {
    /// Not settled yet.
    case waiting
    case settled(PushResult, PushAbandonment?)
  }

  /// Reads the whole log and keeps what it needs in memory: the state of the rooms up to the message, and from then on
  /// who joined the room and the outcomes of the notifications.
  ///
  /// - Parameter progress: receives the number of events read so far.
  /// - Throws: `PushExplanationError`, or an error of the log.
  package init(
    of position: LogPosition, in feed: any EventFeed, progress: (UInt64) -> Void = { _ in }
  ) throws {
    let queue = try DatabaseQueue()
    let found: (message: FanOut.SentMessage, decisions: [FanOut.DeviceDecision], fates: [PushNotificationKey: Fate])?
    found = try queue.write { database in
      try PushProjection.createTables(database)
      try PushProjection.createIndexes(database)
      guard let message = try Self.apply(through: position, of: feed, to: database, progress) else { return nil }
      let writer = RecipientsWriter(database)
      var recipients = try writer.recipients(of: message) + writer.formerMembers(of: message.room)
      let known = Set(recipients.map(\.user))
      let later = try LaterEvents(of: message, in: feed, progress)
      for user in later.members.subtracting(known).sorted() {
        recipients.append(
          FanOut.Recipient(user: user, membership: .joinsLater, devices: try writer.devices(of: user)))
      }
      let rooms = RoomsQueries(database)
      let decisions = try FanOut.decisions(on: message, in: FanOut.RoomContext(of: message, rooms), for: recipients) {
        try rooms.badge(of: $0, at: message.time)
      }
      let isSwitchedOn = try OutboxWriter(database).isSwitchedOn()
      return (message, decisions, isSwitchedOn ? later.fates(of: decisions, on: message) : [:])
    }
    guard let found else { throw PushExplanationError.notAMessage(position, head: feed.head) }
    message = found.message
    decisions = found.decisions
    fates = found.fates
  }

  /// - Returns: the message at `position`; nil if there is none.
  private static func apply(
    through position: LogPosition, of feed: any EventFeed, to database: Database, _ progress: (UInt64) -> Void
  ) throws -> FanOut.SentMessage? {
    guard position > .origin, position <= feed.head else { return nil }
    var projection = PushProjection()
    var last = LogPosition.origin
    while last < position {
      let events = try feed.events(after: last, limit: batchEvents).filter { $0.position <= position }
      guard let end = events.last else { return nil }
      try projection.apply(events[...], to: database)
      last = end.position
      progress(last.value)
      if last == position { return FanOut.SentMessage(end) }
    }
    return nil
  }
}

/// The events after a message that concern its notifications.
private struct LaterEvents {
  /// The users who joined its room.
  private(set) var members: Set<UserID> = []
  private var outcomes: [PushNotificationKey: PushExplanation.Fate] = [:]
  private var settledThrough = LogPosition.origin

  init(of message: FanOut.SentMessage, in feed: any EventFeed, _ progress: (UInt64) -> Void) throws {
    var last = message.position
    while case let events = try feed.events(after: last, limit: PushExplanation.batchEvents), let end = events.last {
      for recorded in events { take(recorded, message) }
      last = end.position
      progress(last.value)
    }
  }

  private mutating func take(_ recorded: RecordedEvent, _ message: FanOut.SentMessage) {
    switch recorded.event {
    case .room(let room, let event): if room == message.room { take(event) }
    case .server(let event): take(event, message)
    case .user, .workspace: break
    }
  }

  private mutating func take(_ event: RoomEvent) {
    switch event {
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      members.insert(user)
    case .members(.admissionRepeated), .members(.left), .members(.removed), .members(.banned), .members(.unbanned),
      .members(.roleChanged), .members(.silenced), .members(.muted), .members(.notificationsSet), .lifecycle, .sharing,
      .messages, .annotations, .reading, .threads, .scheduling, .reports, .erased:
      break
    }
  }

  private mutating func take(_ event: ServerEvent, _ message: FanOut.SentMessage) {
    switch event {
    case .pushOutcomesRecorded(let recorded):
      settledThrough = max(settledThrough, recorded.settledThrough)
      for outcome in recorded.outcomes where outcome.position == message.position {
        let key = PushNotificationKey(position: outcome.position, user: outcome.user, device: outcome.device)
        outcomes[key] = .settled(outcome.result, outcome.reason)
      }
    case .signingKeyRotated, .erased:
      break
    }
  }

  /// A notification that is settled and has no outcome of its own was delivered.
  func fates(
    of decisions: [FanOut.DeviceDecision], on message: FanOut.SentMessage
  ) -> [PushNotificationKey: PushExplanation.Fate] {
    let rest: PushExplanation.Fate = settledThrough >= message.position ? .settled(.delivered, nil) : .waiting
    var fates: [PushNotificationKey: PushExplanation.Fate] = [:]
    for decision in decisions {
      guard case .notify = decision.decision else { continue }
      let key = PushNotificationKey(position: message.position, user: decision.user, device: decision.device)
      fates[key] = outcomes[key] ?? rest
    }
    return fates
  }
}

package enum PushExplanationError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAMessage(LogPosition, head: LogPosition)

  package var description: String {
    switch self {
    case .notAMessage(let position, let head):
      position > head || position == .origin
        ? "position \(position) does not exist; the log has positions 1 to \(head)"
        : "the event at position \(position) is not a sent message"
    }
  }
}
