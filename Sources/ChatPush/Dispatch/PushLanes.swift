import ChatPrimitives
import ChatService

/// The lanes of the sender, each with its queues and the gate of its provider. A lane that is closed or full does not
/// hold up the others.
///
/// It has no clock and does no I/O.
struct PushLanes {
  typealias Instant = ContinuousClock.Instant

  private struct Lane {
    let provider: ProviderName?
    let concurrency: Int
    var queues: PerDeviceQueues
    var gate: ProviderGate
    /// Whether the outbox may have rows of this lane that were not taken yet.
    var mayHaveMore = true
  }

  /// An attempt to begin now. The owner must report how it ended.
  struct Start: Hashable {
    let attempt: PerDeviceQueues.Attempt
    let ticket: Ticket
    /// The lane's provider; nil if the lane is for all.
    let provider: ProviderName?
  }

  /// The lane of an attempt, and whether the attempt is a trial of the provider.
  struct Ticket: Sendable, Hashable {
    fileprivate let lane: Int
    fileprivate let isTrial: Bool
  }

  /// Which rows of the outbox a lane needs next.
  struct Request: Sendable, Hashable {
    fileprivate let lane: Int
    let cursor: PushNotificationKey
    let provider: ProviderName?
    let freeCapacity: Int
  }

  /// The number of rows that are read at once. A full lane takes no rows until there is room for so many.
  static let rowsPerRead = 1024

  private var lanes: [Lane]
  /// The first lane to take the next attempt from.
  private var turn = 0
  /// The lane that is asked first for the rows that it needs.
  private var readingTurn = 0

  init(_ lanes: [PushLane] = [PushLane()]) {
    self.lanes = lanes.map {
      Lane(
        provider: $0.provider, concurrency: $0.concurrency, queues: PerDeviceQueues(slots: $0.concurrency),
        gate: ProviderGate(requestsPerSecond: $0.requestsPerSecond))
    }
  }

  /// The number of active attempts.
  var active: Int { lanes.reduce(0) { $0 + $1.queues.active } }
  /// The position of the oldest notification in memory. Reads every queue.
  var oldest: LogPosition? { lanes.compactMap(\.queues.oldest).min() }
  /// The states of the providers.
  var states: [PushProviderStatus] {
    lanes.compactMap { lane in
      lane.provider.map { PushProviderStatus($0, lane.gate.state, refusal: lane.gate.refusal) }
    }
  }
  /// The providers that take no notifications now.
  var closed: Set<ProviderName> {
    Set(lanes.lazy.filter { $0.gate.isClosed }.compactMap(\.provider))
  }

  // MARK: - Taking notifications from the outbox

  mutating func outboxGrew() {
    for index in lanes.indices { lanes[index].mayHaveMore = true }
  }

  /// For each lane, the position after which its next row is.
  var cursors: [Request] { lanes.indices.map(request) }
  /// The next lane that may take rows; nil if there is none.
  var needed: Request? {
    lanes.indices.lazy.map { ($0 + readingTurn) % lanes.count }
      .first { lanes[$0].mayHaveMore && lanes[$0].queues.freeCapacity >= Self.rowsPerRead }.map(request)
  }

  private func request(_ index: Int) -> Request {
    let lane = lanes[index]
    return Request(
      lane: index, cursor: lane.queues.cursor, provider: lane.provider, freeCapacity: lane.queues.freeCapacity)
  }

  /// Adds the rows that were read for a request.
  /// - Parameter end: the position up to which these are all rows of the lane; nil if there may be more.
  /// - Returns: the silent notifications that were replaced by newer ones.
  mutating func take(
    _ notifications: [PendingNotification], for request: Request, through end: LogPosition?
  ) -> [PushNotificationKey] {
    readingTurn = request.lane + 1
    let replaced = lanes[request.lane].queues.take(notifications)
    guard let end else { return replaced }
    lanes[request.lane].mayHaveMore = false
    // The rows up to here that were not returned belong to other lanes, so this lane need not read them again.
    lanes[request.lane].queues.skip(through: end)
    return replaced
  }

  /// The alerts of one device that a lane has to read again.
  struct AlertsRequest: Sendable, Hashable {
    fileprivate let lane: Int
    let provider: ProviderName?
    let device: PerDeviceQueues.AlertsRequest
  }

  /// The maximum number of devices whose alerts are read at once.
  static let devicesPerRead = 256

  /// Whether there are such devices.
  var needsAlerts: Bool { lanes.contains(where: \.queues.needsAlerts) }
  /// The devices whose next alerts must be read, in the order in which they must be taken.
  var alertsNeeded: [AlertsRequest] {
    lanes.indices.flatMap { index in
      lanes[index].queues.alertsNeeded(Self.devicesPerRead).map {
        AlertsRequest(lane: index, provider: lanes[index].provider, device: $0)
      }
    }
  }

  mutating func take(_ alerts: [PushNotificationKey], for request: AlertsRequest) {
    lanes[request.lane].queues.take(alerts, for: request.device)
  }

  // MARK: - Attempts

  /// The next attempt; nil if none may begin now. The lanes take turns.
  mutating func next(at now: Instant) -> Start? {
    for offset in lanes.indices {
      let index = (turn + offset) % lanes.count
      guard lanes[index].queues.active < lanes[index].concurrency, lanes[index].gate.opening(at: now) == .open,
        let attempt = lanes[index].queues.next(at: now)
      else { continue }
      turn = index + 1
      let ticket = Ticket(lane: index, isTrial: lanes[index].gate.begin())
      return Start(attempt: attempt, ticket: ticket, provider: lanes[index].provider)
    }
    return nil
  }

  /// When the next attempt can begin if no other one ends before; nil if that is unknown.
  mutating func nextDue(at now: Instant) -> Instant? {
    var times: [Instant] = []
    for index in lanes.indices where lanes[index].queues.active < lanes[index].concurrency {
      let queues = lanes[index].queues
      switch lanes[index].gate.opening(at: now) {
      case .open: if let due = queues.nextDue { times.append(due) }
      case .at(let opening):
        if queues.hasReady {
          times.append(opening)
        } else if let due = queues.nextDue {
          times.append(max(due, opening))
        }
      case .trying: break
      }
    }
    return times.min()
  }

  /// Call this when an attempt has ended, before `complete` or `retry`.
  /// - Parameter provider: the provider to which the notification was sent; nil if it was not sent.
  mutating func end(
    _ ticket: Ticket, _ signal: ProviderGate.Signal, from provider: ProviderName?, at now: Instant
  ) -> (provider: ProviderName, change: ProviderGate.Change)? {
    let own = lanes[ticket.lane].provider
    let other = own == nil ? nil : provider.flatMap { name in lanes.firstIndex { $0.provider == name } }
    guard let other, other != ticket.lane else {
      let change = lanes[ticket.lane].gate.end(isTrial: ticket.isTrial, signal, at: now)
      guard let own, let change else { return nil }
      return (own, change)
    }
    // The device has changed its provider since the notification was enumerated.
    _ = lanes[ticket.lane].gate.end(isTrial: ticket.isTrial, .none, at: now)
    let change = lanes[other].gate.end(isTrial: false, signal, at: now)
    guard let provider, let change else { return nil }
    return (provider, change)
  }

  /// - Parameter wasSent: whether it was sent.
  mutating func complete(_ key: PushNotificationKey, _ ticket: Ticket, wasSent: Bool = true, at now: Instant) {
    lanes[ticket.lane].queues.complete(key, wasSent: wasSent, at: now)
  }

  /// - Parameters:
  ///   - counts: whether this counts as one of the notification's attempts.
  ///   - keepsAlerts: whether the device's other alerts stay in memory, because the wait is not due to the device.
  ///   - failure: what the provider responded, or why there was no response; nil if nothing was sent.
  /// - Returns: false if it is not sent again, because a newer silent one waits.
  mutating func retry(
    _ key: PushNotificationKey, _ ticket: Ticket, at due: Instant, counts: Bool, keepsAlerts: Bool = false,
    failure: String? = nil, now: Instant
  ) -> Bool {
    lanes[ticket.lane].queues.retry(
      key, at: due, counts: counts, keepsAlerts: keepsAlerts, failure: failure, now: now)
  }
}
