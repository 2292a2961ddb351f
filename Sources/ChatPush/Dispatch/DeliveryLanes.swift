import ChatDomain
import ChatPrimitives
import DequeModule

/// The notices that are in hand, one lane for each device: a device is told in the order of the events and one notice at
/// a time, so that its badge ends with the newest count, and a device that cannot be reached holds up nobody else.
///
/// A value without clock or I/O: whoever owns it sends what it names and tells it what came of it.
struct DeliveryLanes {
  typealias Instant = ContinuousClock.Instant

  /// The notices that are in hand at most; the others wait in the outbox.
  static let capacity = 65_536

  /// The most retries that run at once: half of the slots. A receiver that never responds can use every slot only with
  /// first attempts; its retries leave half of the slots free.
  static let retries = PushDispatcher.concurrency / 2

  /// The most attempts at once to the devices of one user, so that nobody's slow devices hold every slot.
  static let attemptsOfUser = PushDispatcher.concurrency / 4

  /// A notice to be sent now.
  struct Attempt: Hashable {
    let key: NoticeKey
    /// From 1.
    let number: Int
  }

  private struct Lane: Hashable {
    let user: UserID
    let device: DeviceID

    init(_ key: NoticeKey) {
      user = key.user
      device = key.device
    }
  }

  private struct Progress {
    var keys: Deque<NoticeKey>
    /// Of the first of them.
    var attempts = 0
    /// The first of them is being sent, and not for the first time.
    var isRetrying = false
  }

  private var lanes: [Lane: Progress] = [:]
  /// Lanes whose first notice may be sent now.
  private var ready: Deque<Lane> = []
  /// Lanes whose first notice has failed before and may be sent again now.
  private var readyAgain: Deque<Lane> = []
  /// How many of those are being sent.
  private var activeRetries = 0
  /// How many notices are being sent to each user; only users with some.
  private var activeOfUser: [UserID: Int] = [:]
  /// Lanes that were due while their user had as many attempts as one may have.
  private var heldBack: [UserID: Deque<Lane>] = [:]
  /// Lanes whose first notice has to wait, the soonest first.
  private var resting: [(due: Instant, lane: Lane)] = []
  /// How many notices are being sent.
  private(set) var active = 0
  /// How many notices are in hand.
  private(set) var count = 0
  /// The last notice that was taken out of the outbox.
  private(set) var cursor = NoticeKey.origin

  /// How many more notices may be taken.
  var room: Int { Self.capacity - count }

  /// Takes the notices that follow the cursor.
  mutating func take(_ keys: [NoticeKey]) {
    for key in keys {
      precondition(key > cursor, "a notification is taken out of the outbox once")
      cursor = key
      count += 1
      let lane = Lane(key)
      if lanes[lane] == nil {
        lanes[lane] = Progress(keys: [key])
        ready.append(lane)
      } else {
        lanes[lane]?.keys.append(key)
      }
    }
  }

  /// The next notice to be sent; nil when none is due. It stays with the caller until `complete` or `retry`.
  mutating func next(at now: Instant) -> Attempt? {
    let due = resting.prefix { $0.due <= now }
    readyAgain.append(contentsOf: due.map(\.lane))
    resting.removeFirst(due.count)
    let again = activeRetries < Self.retries ? popFirst(of: \.readyAgain) : nil
    guard let lane = again ?? popFirst(of: \.ready), let key = lanes[lane]?.keys.first else { return nil }
    lanes[lane]?.attempts += 1
    lanes[lane]?.isRetrying = again != nil
    active += 1
    activeRetries += again == nil ? 0 : 1
    activeOfUser[lane.user, default: 0] += 1
    return Attempt(key: key, number: lanes[lane]?.attempts ?? 1)
  }

  /// The first lane whose user may have another attempt. Those before it are held back until an attempt of their user ends.
  private mutating func popFirst(of due: WritableKeyPath<DeliveryLanes, Deque<Lane>>) -> Lane? {
    while let lane = self[keyPath: due].popFirst() {
      if activeOfUser[lane.user, default: 0] < Self.attemptsOfUser { return lane }
      heldBack[lane.user, default: []].append(lane)
    }
    return nil
  }

  /// When the soonest of those that wait may be sent.
  var nextDue: Instant? { resting.first?.due }

  /// The notice is settled; its device's next one may be sent.
  mutating func complete(_ key: NoticeKey) {
    let lane = Lane(key)
    guard lanes[lane]?.keys.first == key else { return }
    endAttempt(lane)
    count -= 1
    lanes[lane]?.keys.removeFirst()
    lanes[lane]?.attempts = 0
    if lanes[lane]?.keys.isEmpty ?? true { lanes[lane] = nil } else { ready.append(lane) }
  }

  /// The notice was not delivered and is to be sent again, not before `due`.
  /// - Parameter counts: whether it was tried at all, and so has an attempt less.
  mutating func retry(_ key: NoticeKey, at due: Instant, counts: Bool = true) {
    let lane = Lane(key)
    guard lanes[lane]?.keys.first == key else { return }
    endAttempt(lane)
    if !counts { lanes[lane]?.attempts -= 1 }
    let index = resting.firstIndex { $0.due > due } ?? resting.endIndex
    resting.insert((due, lane), at: index)
  }

  private mutating func endAttempt(_ lane: Lane) {
    active -= 1
    if lanes[lane]?.isRetrying == true { activeRetries -= 1 }
    lanes[lane]?.isRetrying = false
    let others = activeOfUser[lane.user, default: 1] - 1
    activeOfUser[lane.user] = others == 0 ? nil : others
    guard let next = heldBack[lane.user]?.popFirst() else { return }
    if heldBack[lane.user]?.isEmpty == true { heldBack[lane.user] = nil }
    if lanes[next]?.attempts == 0 { ready.append(next) } else { readyAgain.append(next) }
  }

  /// The position of the oldest notice in hand. Looks at every lane.
  var oldest: LogPosition? { lanes.values.lazy.compactMap { $0.keys.first?.position }.min() }
}
