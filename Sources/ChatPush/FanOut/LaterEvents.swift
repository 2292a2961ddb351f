import ChatDomain
import ChatPrimitives
import EventStore

/// What later events say about the notifications of an event: who joined its room, and the outcomes.
struct LaterEvents {
  private let event: PushEvent
  /// The users who joined its room.
  private(set) var joined: Set<UserID> = []
  private var outcomes: [PushNotificationKey: PushExplanation.State] = [:]
  /// When it was recorded that all notifications of the event are settled.
  private var settled: Timestamp?

  /// - Parameter head: the last event that is read. Without this limit, reading might never end.
  init(
    of event: PushEvent, in feed: any EventFeed, through head: LogPosition, _ progress: (UInt64) throws -> Void
  ) throws {
    self.event = event
    var last = event.position
    while last < head, case let events = try feed.events(after: last, limit: PushExplanation.batchEvents),
      let end = events.last
    {
      for recorded in events where recorded.position <= head { take(recorded) }
      last = end.position
      try progress(min(last, head).value)
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
      joined.insert(user)
    case .members(.admissionRepeated), .members(.left), .members(.removed), .members(.banned), .members(.unbanned),
      .members(.roleChanged), .members(.silenced), .members(.muted), .members(.notificationsSet), .members(.hidden),
      .members(.shown), .lifecycle, .sharing,
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
    case .signingKeyRotated, .legalHoldPlaced, .legalHoldLifted, .erased:
      break
    }
  }

  /// A notification that is settled and has no outcome of its own was delivered.
  func states(of decisions: [FanOut.DeviceDecision]) -> [PushNotificationKey: PushExplanation.State] {
    let rest: PushExplanation.State =
      settled.map { .settled(PushExplanation.Outcome(result: .delivered, recorded: $0)) } ?? .waiting
    var states: [PushNotificationKey: PushExplanation.State] = [:]
    for decision in decisions where decision.isNotified {
      let key = PushNotificationKey(position: event.position, user: decision.user, device: decision.device)
      states[key] = outcomes[key] ?? rest
    }
    return states
  }
}
