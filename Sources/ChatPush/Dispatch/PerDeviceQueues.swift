import ChatDomain
import ChatPrimitives
import DequeModule

/// The notifications in memory, in one queue for each device. A device gets one at a time, and at most one silent one
/// each second (`DeviceQueue`). A device that cannot be reached does not delay the others.
///
/// It has no clock and does no I/O: the owner sends the notifications that it returns and reports the outcomes.
struct PerDeviceQueues {
  typealias Instant = ContinuousClock.Instant

  /// The maximum number of alerts in memory. Further ones wait in the outbox. For one device the maximum is
  /// `DeviceQueue.alertsInMemory`. So no device can hold up the alerts of others.
  static let capacity = 65_536

  /// The number of silent notifications in memory, at about 400 bytes each, from which on a device that gets a further one
  /// keeps only the newest of its own. So a device that has many takes none from others.
  static let silentCapacity = 65_536

  /// The maximum number of concurrent retries: half of the slots. A receiver that never responds can use every slot
  /// only with first attempts; its retries leave half of the slots free.
  let retries: Int

  /// The maximum number of concurrent attempts for one user, so that the slow devices of one user cannot use all slots.
  let attemptsOfUser: Int

  /// A notification to be sent now.
  struct Attempt: Hashable {
    let key: PushNotificationKey
    /// The number of the attempt, from 1.
    let number: Int
    /// What the provider last responded to the notification, or why there was no response; nil if it was not sent before. At
    /// most `PushOutcome.responseBytes` long.
    var lastFailure: String?
  }

  private struct DeviceKey: Hashable {
    let user: UserID
    let device: DeviceID

    init(_ request: AlertsRequest) {
      user = request.user
      device = request.device
    }

    init(_ key: PushNotificationKey) {
      user = key.user
      device = key.device
    }
  }

  /// Which alerts of a device must be read from the outbox.
  struct AlertsRequest: Sendable, Hashable {
    let user: UserID
    let device: DeviceID
    let after: LogPosition
    let limit: Int
  }

  private var queues: [DeviceKey: DeviceQueue] = [:]
  /// Queues whose next alerts must be read.
  private var needingAlerts: Deque<DeviceKey> = []
  /// Queues with a notification that may be sent now.
  private var ready: Deque<DeviceKey> = []
  /// Queues whose current notification has failed before and may be sent again now.
  private var readyAgain: Deque<DeviceKey> = []
  /// The number of active attempts that are retries.
  private var activeRetries = 0
  /// The number of active attempts for each user; users without any have no entry.
  private var activeOfUser: [UserID: Int] = [:]
  /// Queues that were ready while their user already had the maximum number of attempts.
  private var heldBack: [UserID: Deque<DeviceKey>] = [:]
  /// Queues whose current notification failed and has to wait.
  private var awaitingRetry = DueQueue<DeviceKey>()
  /// When devices that may get no silent notification now may get one again.
  private var paced: [DeviceKey: Instant] = [:]
  private var pauses = DueQueue<DeviceKey>()
  /// The number of active attempts.
  private(set) var active = 0
  /// The number of notifications in memory.
  private(set) var count = 0
  /// How many of them are silent.
  private(set) var silentCount = 0
  /// The last notification taken from the outbox.
  private(set) var cursor = PushNotificationKey.origin

  /// - Parameter slots: the maximum number of concurrent attempts, which the owner enforces.
  init(slots: Int = PushDispatcher.concurrency) {
    retries = max(slots / 2, 1)
    attemptsOfUser = max(slots / 4, 1)
  }

  /// How many more notifications can be taken.
  var freeCapacity: Int { Self.capacity - (count - silentCount) }

  /// Adds the notifications that follow the cursor.
  /// - Returns: the silent notifications that are not sent because of newer ones.
  mutating func take(_ notifications: [PendingNotification]) -> [PushNotificationKey] {
    var replaced: [PushNotificationKey] = []
    for notification in notifications {
      precondition(notification.key > cursor, "a notification is taken out of the outbox once")
      cursor = notification.key
      let device = DeviceKey(notification.key)
      let isNew = queues[device] == nil
      if let group = notification.group {
        let limit = silentCount < Self.silentCapacity ? SilentQueue.capacity : SilentQueue.capacityWithoutMemory
        let older = queues[device, default: DeviceQueue()].append(notification.key, group, limit: limit)
        replaced += older
        count += 1 - older.count
        silentCount += 1 - older.count
      } else if queues[device, default: DeviceQueue()].append(notification.key) == .kept {
        count += 1
      }
      if isNew || queues[device]?.isPaced == true { schedule(device) }
    }
    return replaced
  }

  /// Makes a queue without a current notification ready, or removes it if it is empty. A queue with only silent ones first
  /// waits for its pause to end.
  private mutating func schedule(_ device: DeviceKey) {
    guard let queue = queues[device] else { return }
    if queue.isEmpty {
      queues[device] = nil
      return
    }
    if queue.needsAlerts {
      queues[device]?.isPaced = false
      return needingAlerts.append(device)
    }
    let hasAlerts = queue.hasAlerts
    let mustWait = !hasAlerts && paced[device] != nil
    queues[device]?.isPaced = mustWait
    if mustWait { return }
    if queues[device]?.startsAgain == true { readyAgain.append(device) } else { ready.append(device) }
  }

  private mutating func pause(_ device: DeviceKey, until time: Instant) {
    paced[device] = max(paced[device] ?? time, time)
    pauses.add(device, due: time)
  }

  /// Moves the cursor behind all notifications up to this position.
  mutating func skip(through position: LogPosition) { cursor = max(cursor, .last(at: position)) }

  // MARK: - Alerts that were left in the outbox

  var needsAlerts: Bool { !needingAlerts.isEmpty }
  /// The devices, at most `maximum`, whose next alerts must be read before anything else is sent to them. Each gets at least
  /// one alert, even if memory is full: only the alerts in memory make room.
  func alertsNeeded(_ maximum: Int) -> [AlertsRequest] {
    needingAlerts.prefix(maximum).compactMap { device in
      queues[device].map { queue in
        AlertsRequest(
          user: device.user, device: device.device, after: queue.lastAlert,
          limit: freeCapacity > 0 ? DeviceQueue.alertsInMemory : 1)
      }
    }
  }

  /// Adds the alerts that were read for the first request.
  /// - Parameter alerts: all that follow in the outbox, or more than the request's limit.
  mutating func take(_ alerts: [PushNotificationKey], for request: AlertsRequest) {
    let device = DeviceKey(request)
    precondition(needingAlerts.popFirst() == device, "alerts are taken in the order of the requests")
    let passed = alerts.prefix { $0 <= cursor }
    let kept = Array(passed.prefix(request.limit))
    count += kept.count
    queues[device]?.take(kept, more: passed.dropFirst(kept.count).first?.position)
    schedule(device)
  }

  // MARK: - Attempts

  /// The next notification to send; nil if none is due. The caller must report its outcome with `complete` or `retry`.
  mutating func next(at now: Instant) -> Attempt? {
    while let device = awaitingRetry.popDue(at: now) { readyAgain.append(device) }
    while let device = pauses.popDue(at: now) {
      guard let until = paced[device], until <= now else { continue }
      paced[device] = nil
      if queues[device]?.isPaced == true { schedule(device) }
    }
    let again = activeRetries < retries ? popFirst(of: \.readyAgain) : nil
    guard let device = again ?? popFirst(of: \.ready),
      let key = queues[device]?.begin(mayBeSilent: paced[device] == nil)
    else { return nil }
    queues[device]?.attempts += 1
    queues[device]?.isRetrying = again != nil
    active += 1
    activeRetries += again == nil ? 0 : 1
    activeOfUser[device.user, default: 0] += 1
    return Attempt(key: key, number: queues[device]?.attempts ?? 1, lastFailure: queues[device]?.lastFailure)
  }

  /// The first queue whose user may have another attempt. Earlier queues are held back until an attempt of their user
  /// ends.
  private mutating func popFirst(of due: WritableKeyPath<PerDeviceQueues, Deque<DeviceKey>>) -> DeviceKey? {
    while let device = self[keyPath: due].popFirst() {
      if activeOfUser[device.user, default: 0] < attemptsOfUser { return device }
      heldBack[device.user, default: []].append(device)
    }
    return nil
  }

  /// Whether a notification is ready. It can still be held back by the limit of its user.
  var hasReady: Bool { !ready.isEmpty || !readyAgain.isEmpty }

  /// When the next waiting notification is due.
  var nextDue: Instant? { [awaitingRetry.nextDue, pauses.nextDue].compactMap { $0 }.min() }

  /// Call this when the notification is settled. Then the device's next one can be sent.
  /// - Parameter wasSent: whether it was sent, so that the next silent one has to wait.
  mutating func complete(_ key: PushNotificationKey, wasSent: Bool = true, at now: Instant) {
    let device = DeviceKey(key)
    guard let current = queues[device]?.current, current.key == key else { return }
    endAttempt(device)
    count -= 1
    queues[device]?.end()
    if current.group != nil {
      silentCount -= 1
      if wasSent { pause(device, until: now + DeviceQueue.silentPause) }
    }
    schedule(device)
  }

  /// Call this when the notification was not delivered and has to be sent again, not before `due`.
  /// - Parameters:
  ///   - counts: whether it was sent, so that this counts as one of its attempts.
  ///   - keepsAlerts: whether the device's other alerts stay in memory, because the wait is not due to the device.
  ///   - failure: what the provider responded, or why there was no response; nil if nothing was sent.
  /// - Returns: false if it is silent and a newer one waits, so that it is not sent again.
  mutating func retry(
    _ key: PushNotificationKey, at due: Instant, counts: Bool = true, keepsAlerts: Bool = false, failure: String? = nil,
    now: Instant
  ) -> Bool {
    let device = DeviceKey(key)
    guard let current = queues[device]?.current, current.key == key else { return true }
    endAttempt(device)
    if !counts { queues[device]?.attempts -= 1 }
    if let failure { queues[device]?.lastFailure = failure.beginning(ofBytes: PushOutcome.responseBytes) }
    guard current.group != nil else {
      if !keepsAlerts { count -= queues[device]?.keepOnlyCurrent() ?? 0 }
      // What may be sent at once goes to the end, so that a provider that refused it is tried with another device next.
      if due <= now { ready.append(device) } else { awaitingRetry.add(device, due: due) }
      return true
    }
    let isNeeded = queues[device]?.putBack() ?? true
    if !isNeeded {
      count -= 1
      silentCount -= 1
    }
    pause(device, until: counts ? max(due, now + DeviceQueue.silentPause) : due)
    schedule(device)
    return isNeeded
  }

  private mutating func endAttempt(_ device: DeviceKey) {
    active -= 1
    if queues[device]?.isRetrying == true { activeRetries -= 1 }
    queues[device]?.isRetrying = false
    let others = activeOfUser[device.user, default: 1] - 1
    activeOfUser[device.user] = others == 0 ? nil : others
    guard let next = heldBack[device.user]?.popFirst() else { return }
    if heldBack[device.user]?.isEmpty == true { heldBack[device.user] = nil }
    if queues[next]?.attempts == 0 { ready.append(next) } else { readyAgain.append(next) }
  }

  /// The position of the oldest notification in memory. Reads every queue.
  var oldest: LogPosition? { queues.values.lazy.compactMap(\.oldest).min() }
}
