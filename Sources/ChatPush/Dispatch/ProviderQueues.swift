import ChatPrimitives
import ChatService

/// One queue for each provider, or one for all with a webhook or a file. Each has the queues of its devices and the gate of
/// its provider. A queue that is closed or full does not hold up the others.
///
/// It has no clock and does no I/O.
struct ProviderQueues {
  typealias Instant = ContinuousClock.Instant

  private struct Queue {
    let provider: ProviderName?
    let concurrency: Int
    var devices: PerDeviceQueues
    var gate: ProviderGate
    /// Whether the outbox may have rows of this queue that were not taken yet.
    var mayHaveMore = true
  }

  /// An attempt to begin now. The owner must report how it ended.
  struct Start: Hashable {
    let attempt: PerDeviceQueues.Attempt
    let ticket: Ticket
    /// The queue's provider; nil if the queue is for all.
    let provider: ProviderName?
  }

  /// The queue of an attempt, and whether the attempt is a trial of the provider.
  struct Ticket: Sendable, Hashable {
    fileprivate let queue: Int
    fileprivate let isTrial: Bool
  }

  /// Which rows of the outbox a queue needs next.
  struct Request: Sendable, Hashable {
    fileprivate let queue: Int
    let cursor: PushNotificationKey
    let provider: ProviderName?
    let freeCapacity: Int
  }

  /// The number of rows that are read at once. A full queue takes no rows until there is room for so many.
  static let rowsPerRead = 1024

  private var queues: [Queue]
  /// The first queue to take the next attempt from.
  private var nextToSend = 0
  /// The queue that is asked first for the rows that it needs.
  private var nextToRead = 0

  init(_ settings: [ProviderQueueSettings] = [ProviderQueueSettings()]) {
    queues = settings.map {
      Queue(
        provider: $0.provider, concurrency: $0.concurrency, devices: PerDeviceQueues(slots: $0.concurrency),
        gate: ProviderGate(requestsPerSecond: $0.requestsPerSecond))
    }
  }

  /// The number of active attempts.
  var active: Int { queues.reduce(0) { $0 + $1.devices.active } }
  /// The position of the oldest notification in memory. Reads the queue of every device.
  var oldest: LogPosition? { queues.compactMap(\.devices.oldest).min() }
  /// The states of the providers.
  var states: [PushProviderStatus] {
    queues.compactMap { queue in
      queue.provider.map { PushProviderStatus($0, queue.gate.state, refusal: queue.gate.refusal) }
    }
  }
  /// The providers that take no notifications now.
  var closed: Set<ProviderName> {
    Set(queues.lazy.filter { $0.gate.isClosed }.compactMap(\.provider))
  }

  // MARK: - Taking notifications from the outbox

  mutating func outboxGrew() {
    for index in queues.indices { queues[index].mayHaveMore = true }
  }

  /// For each queue, the position after which its next row is.
  var cursors: [Request] { queues.indices.map(request) }
  /// The next queue that may take rows; nil if there is none.
  var needed: Request? {
    queues.indices.lazy.map { ($0 + nextToRead) % queues.count }
      .first { queues[$0].mayHaveMore && queues[$0].devices.freeCapacity >= Self.rowsPerRead }.map(request)
  }

  private func request(_ index: Int) -> Request {
    let queue = queues[index]
    return Request(
      queue: index, cursor: queue.devices.cursor, provider: queue.provider, freeCapacity: queue.devices.freeCapacity)
  }

  /// Adds the rows that were read for a request.
  /// - Parameter end: the position up to which these are all rows of the queue; nil if there may be more.
  /// - Returns: the silent notifications that were replaced by newer ones.
  mutating func take(
    _ notifications: [PendingNotification], for request: Request, through end: LogPosition?
  ) -> [PushNotificationKey] {
    nextToRead = request.queue + 1
    let replaced = queues[request.queue].devices.take(notifications)
    guard let end else { return replaced }
    queues[request.queue].mayHaveMore = false
    // The rows up to here that were not returned belong to other queues, so this queue need not read them again.
    queues[request.queue].devices.skip(through: end)
    return replaced
  }

  /// The alerts of one device that a queue has to read again.
  struct AlertsRequest: Sendable, Hashable {
    fileprivate let queue: Int
    let provider: ProviderName?
    let device: PerDeviceQueues.AlertsRequest
  }

  /// The maximum number of devices whose alerts are read at once.
  static let devicesPerRead = 256

  /// Whether there are such devices.
  var needsAlerts: Bool { queues.contains(where: \.devices.needsAlerts) }
  /// The devices whose next alerts must be read, in the order in which they must be taken.
  var alertsNeeded: [AlertsRequest] {
    queues.indices.flatMap { index in
      queues[index].devices.alertsNeeded(Self.devicesPerRead).map {
        AlertsRequest(queue: index, provider: queues[index].provider, device: $0)
      }
    }
  }

  mutating func take(_ alerts: [PushNotificationKey], for request: AlertsRequest) {
    queues[request.queue].devices.take(alerts, for: request.device)
  }

  // MARK: - Attempts

  /// The next attempt; nil if none may begin now. The queues take turns.
  mutating func next(at now: Instant) -> Start? {
    for offset in queues.indices {
      let index = (nextToSend + offset) % queues.count
      guard queues[index].devices.active < queues[index].concurrency, queues[index].gate.opening(at: now) == .open,
        let attempt = queues[index].devices.next(at: now)
      else { continue }
      nextToSend = index + 1
      let ticket = Ticket(queue: index, isTrial: queues[index].gate.begin())
      return Start(attempt: attempt, ticket: ticket, provider: queues[index].provider)
    }
    return nil
  }

  /// When the next attempt can begin if no other one ends before; nil if that is unknown.
  mutating func nextDue(at now: Instant) -> Instant? {
    var times: [Instant] = []
    for index in queues.indices where queues[index].devices.active < queues[index].concurrency {
      let devices = queues[index].devices
      switch queues[index].gate.opening(at: now) {
      case .open: if let due = devices.nextDue { times.append(due) }
      case .at(let opening):
        if devices.hasReady {
          times.append(opening)
        } else if let due = devices.nextDue {
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
    let own = queues[ticket.queue].provider
    let other = own == nil ? nil : provider.flatMap { name in queues.firstIndex { $0.provider == name } }
    guard let other, other != ticket.queue else {
      let change = queues[ticket.queue].gate.end(isTrial: ticket.isTrial, signal, at: now)
      guard let own, let change else { return nil }
      return (own, change)
    }
    // The device has changed its provider since the notification was decided on.
    _ = queues[ticket.queue].gate.end(isTrial: ticket.isTrial, .none, at: now)
    let change = queues[other].gate.end(isTrial: false, signal, at: now)
    guard let provider, let change else { return nil }
    return (provider, change)
  }

  /// - Parameter wasSent: whether it was sent.
  mutating func complete(_ key: PushNotificationKey, _ ticket: Ticket, wasSent: Bool = true, at now: Instant) {
    queues[ticket.queue].devices.complete(key, wasSent: wasSent, at: now)
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
    queues[ticket.queue].devices.retry(
      key, at: due, counts: counts, keepsAlerts: keepsAlerts, failure: failure, now: now)
  }
}
