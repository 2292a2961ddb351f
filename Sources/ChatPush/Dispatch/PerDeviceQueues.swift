import ChatDomain
import ChatPrimitives
import DequeModule

/// The notifications that are in hand, one queue for each device: a device is told in the order of the events and one
/// notification at a time, so that its badge ends with the newest count, and a device that cannot be reached holds up
/// nobody else.
///
/// A value without clock or I/O: whoever owns it sends what it names and tells it the outcome.
struct PerDeviceQueues {
  typealias Instant = ContinuousClock.Instant

  /// The notifications that are in hand at most; the others wait in the outbox.
  static let capacity = 65_536

  /// The most retries that run at once: half of the slots. A receiver that never responds can use every slot only with
  /// first attempts; its retries leave half of the slots free.
  static let retries = PushDispatcher.concurrency / 2

  /// The most attempts at once to the devices of one user, so that nobody's slow devices hold every slot.
  static let attemptsOfUser = PushDispatcher.concurrency / 4

  /// A notification to be sent now.
  struct Attempt: Hashable {
    let key: PushNotificationKey
    /// From 1.
    let number: Int
  }

  private struct DeviceKey: Hashable {
    let user: UserID
    let device: DeviceID

    init(_ key: PushNotificationKey) {
      user = key.user
      device = key.device
    }
  }

  private struct Progress {
    var keys: Deque<PushNotificationKey>
    /// Of the first of them.
    var attempts = 0
    /// The first of them is being sent, and not for the first time.
    var isRetrying = false
  }

  private var queues: [DeviceKey: Progress] = [:]
  /// Queues whose first notification may be sent now.
  private var ready: Deque<DeviceKey> = []
  /// Queues whose first notification has failed before and may be sent again now.
  private var readyAgain: Deque<DeviceKey> = []
  /// How many of those are being sent.
  private var activeRetries = 0
  /// How many notifications are being sent to each user; only users with some.
  private var activeOfUser: [UserID: Int] = [:]
  /// Queues that were due while their user had as many attempts as one may have.
  private var heldBack: [UserID: Deque<DeviceKey>] = [:]
  /// Queues whose first notification has to wait, the soonest first.
  private var resting: [(due: Instant, device: DeviceKey)] = []
  /// How many notifications are being sent.
  private(set) var active = 0
  /// How many notifications are in hand.
  private(set) var count = 0
  /// The last notification that was taken out of the outbox.
  private(set) var cursor = PushNotificationKey.origin

  /// How many more notifications may be taken.
  var room: Int { Self.capacity - count }

  /// Takes the notifications that follow the cursor.
  mutating func take(_ keys: [PushNotificationKey]) {
    for key in keys {
      precondition(key > cursor, "a notification is taken out of the outbox once")
      cursor = key
      count += 1
      let device = DeviceKey(key)
      if queues[device] == nil {
        queues[device] = Progress(keys: [key])
        ready.append(device)
      } else {
        queues[device]?.keys.append(key)
      }
    }
  }

  /// The next notification to be sent; nil when none is due. It stays with the caller until `complete` or `retry`.
  mutating func next(at now: Instant) -> Attempt? {
    let due = resting.prefix { $0.due <= now }
    readyAgain.append(contentsOf: due.map(\.device))
    resting.removeFirst(due.count)
    let again = activeRetries < Self.retries ? popFirst(of: \.readyAgain) : nil
    guard let device = again ?? popFirst(of: \.ready), let key = queues[device]?.keys.first else { return nil }
    queues[device]?.attempts += 1
    queues[device]?.isRetrying = again != nil
    active += 1
    activeRetries += again == nil ? 0 : 1
    activeOfUser[device.user, default: 0] += 1
    return Attempt(key: key, number: queues[device]?.attempts ?? 1)
  }

  /// The first queue whose user may have another attempt. Those before it are held back until an attempt of their user
  /// ends.
  private mutating func popFirst(of due: WritableKeyPath<PerDeviceQueues, Deque<DeviceKey>>) -> DeviceKey? {
    while let device = self[keyPath: due].popFirst() {
      if activeOfUser[device.user, default: 0] < Self.attemptsOfUser { return device }
      heldBack[device.user, default: []].append(device)
    }
    return nil
  }

  /// When the soonest of those that wait may be sent.
  var nextDue: Instant? { resting.first?.due }

  /// The notification is settled; its device's next one may be sent.
  mutating func complete(_ key: PushNotificationKey) {
    let device = DeviceKey(key)
    guard queues[device]?.keys.first == key else { return }
    endAttempt(device)
    count -= 1
    queues[device]?.keys.removeFirst()
    queues[device]?.attempts = 0
    if queues[device]?.keys.isEmpty ?? true { queues[device] = nil } else { ready.append(device) }
  }

  /// The notification was not delivered and is to be sent again, not before `due`.
  /// - Parameter counts: whether it was tried at all, and so has an attempt less.
  mutating func retry(_ key: PushNotificationKey, at due: Instant, counts: Bool = true) {
    let device = DeviceKey(key)
    guard queues[device]?.keys.first == key else { return }
    endAttempt(device)
    if !counts { queues[device]?.attempts -= 1 }
    let index = resting.firstIndex { $0.due > due } ?? resting.endIndex
    resting.insert((due, device), at: index)
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

  /// The position of the oldest notification in hand. Looks at every queue.
  var oldest: LogPosition? { queues.values.lazy.compactMap { $0.keys.first?.position }.min() }
}
