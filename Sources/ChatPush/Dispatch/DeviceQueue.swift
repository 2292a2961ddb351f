import ChatPrimitives
import DequeModule

/// The notifications that wait for one device, of which one is sent at a time. Only the first alerts are in memory. The
/// others stay in the outbox, and are read again when these were sent.
///
/// Notifications that show something go out in the order of their events. A silent one can be overtaken while it waits for
/// its turn or to be sent again, so it has the badge of when it is sent (`PushQueries.notification`).
struct DeviceQueue {
  /// The minimum time between two silent notifications of a device.
  static let silentPause = Duration.seconds(1)
  /// The maximum number of alerts in memory. A device that fails has only the one that is sent again, so that it takes no
  /// memory from others.
  static let alertsInMemory = 32

  private var alerts: Deque<PushNotificationKey> = []
  /// The position of the first alert that is only in the outbox; nil if there is none.
  private var unread: LogPosition?
  /// Whether all alerts after the current notification are left in the outbox, because it waits to be sent again.
  private var hasOnlyCurrent = false
  /// The position of the last alert that became the current notification.
  private(set) var lastAlert = LogPosition.origin
  // The silent notifications, in the order in which they are sent.
  /// Those of the kinds `sent` and `update`. They are of use only while the notifications that they clear are shown.
  private var updates = SilentQueue()
  /// Alerts in quiet hours. Each has the newest badge, so little is lost if one is delayed or replaced.
  private var quietAlerts = SilentQueue()
  private var roomChanges = SilentQueue()
  /// The notification that is being sent, or an alert that is to be sent again.
  private(set) var current: PendingNotification?
  /// The number of attempts to send the current notification.
  var attempts = 0
  /// Why the last attempt to send the current notification failed; nil if none did.
  var lastFailure: String?
  /// Whether the current notification is being sent again.
  var isRetrying = false
  /// Whether the device waits until it may get a silent notification.
  var isPaced = false

  var isEmpty: Bool { current == nil && alerts.isEmpty && unread == nil && !hasSilent }
  /// Whether the next alerts must be read before anything is sent.
  var needsAlerts: Bool { current == nil && alerts.isEmpty && unread != nil }
  var hasAlerts: Bool { !alerts.isEmpty }
  private var hasSilent: Bool { firstSilent != nil }
  private var firstSilent: SilentQueue.Waiting? { updates.first ?? quietAlerts.first ?? roomChanges.first }
  /// Whether the next notification is a silent one that was sent before.
  var startsAgain: Bool { alerts.isEmpty && firstSilent.map { $0.attempts > 0 } ?? false }

  /// The position of the oldest notification. Reads all silent ones. Makes no arrays, because it is read for every device.
  var oldest: LogPosition? {
    var oldest = unread
    func note(_ key: PushNotificationKey?) {
      if let position = key?.position, oldest.map({ position < $0 }) ?? true { oldest = position }
    }
    note(current?.key)
    note(alerts.first)
    if hasSilent {
      note(updates.oldest)
      note(quietAlerts.oldest)
      note(roomChanges.oldest)
    }
    return oldest
  }

  enum Appended: Hashable {
    case kept
    /// It is an alert that stays in the outbox.
    case left
  }

  private static func queue(of group: SilentGroup) -> WritableKeyPath<DeviceQueue, SilentQueue> {
    if group.kind.alert != nil { return \.quietAlerts }
    return group.kind == .roomChange ? \.roomChanges : \.updates
  }

  /// Adds a notification that shows nothing.
  /// - Parameter limit: how many may wait in its queue (`SilentQueue.capacity`).
  /// - Returns: those that are not sent because of this one.
  mutating func append(_ key: PushNotificationKey, _ group: SilentGroup, limit: Int) -> [PushNotificationKey] {
    self[keyPath: Self.queue(of: group)].append(key, group, limit: limit)
  }

  mutating func append(_ alert: PushNotificationKey) -> Appended {
    guard unread == nil, !hasOnlyCurrent, alerts.count < Self.alertsInMemory else {
      unread = unread ?? alert.position
      return .left
    }
    alerts.append(alert)
    return .kept
  }

  /// Adds the next alerts that were left in the outbox.
  /// - Parameter more: the position of the first one that is still left; nil if these are all.
  mutating func take(_ read: [PushNotificationKey], more: LogPosition?) {
    alerts += read
    unread = more
  }

  /// Leaves the alerts after the current notification in the outbox until it is settled.
  /// - Returns: how many were in memory.
  mutating func keepOnlyCurrent() -> Int {
    hasOnlyCurrent = true
    guard let first = alerts.first else { return 0 }
    unread = first.position
    defer { alerts.removeAll(keepingCapacity: false) }
    return alerts.count
  }

  /// The notification to send next, which becomes the current one; nil if there is none.
  /// - Parameter mayBeSilent: whether the device may get a silent notification now.
  mutating func begin(mayBeSilent: Bool) -> PushNotificationKey? {
    if let current { return current.key }
    let silent = mayBeSilent ? firstSilent : nil
    // An older alert goes first: what the silent one clears can include it.
    if let alert = alerts.first, silent.map({ alert < $0.pending.key }) ?? true {
      current = PendingNotification(alert)
      lastAlert = alert.position
      alerts.removeFirst()
    } else if silent != nil, let next = updates.popFirst() ?? quietAlerts.popFirst() ?? roomChanges.popFirst() {
      (current, attempts, lastFailure) = (next.pending, next.attempts, next.lastFailure)
    }
    return current?.key
  }

  /// Lets the current notification, which is silent, wait with the others again, so that alerts go first.
  /// - Returns: whether it is still needed; false if a newer one of its group waits.
  mutating func putBack() -> Bool {
    guard let pending = current, let group = pending.group else { return true }
    let waiting = SilentQueue.Waiting(pending: pending, attempts: attempts, lastFailure: lastFailure)
    end()
    return self[keyPath: Self.queue(of: group)].putBack(waiting, group)
  }

  /// The current notification is settled.
  mutating func end() {
    current = nil
    attempts = 0
    lastFailure = nil
    hasOnlyCurrent = false
  }
}
