import ChatDomain
import ChatPrimitives
import DequeModule

/// A notification that waits in the outbox.
package struct PendingNotification: Sendable, Hashable {
  package let key: PushNotificationKey
  /// Nil if the notification shows something.
  package let group: SilentGroup?

  package init(_ key: PushNotificationKey, _ group: SilentGroup? = nil) {
    self.key = key
    self.group = group
  }
}

/// The notifications that wait for one device, of which one is sent at a time.
///
/// Notifications that show something go out in the order of their events. A silent one can be overtaken while it waits for
/// its turn, and then has the badge of when it is sent (`PushQueries.notification`).
struct DeviceQueue {
  /// The minimum time between two silent notifications of a device.
  static let silentPause = Duration.seconds(1)

  private var alerts: Deque<PushNotificationKey> = []
  /// The silent ones that set the badge. They go before the changes of rooms.
  private var updates = SilentQueue()
  private var roomChanges = SilentQueue()
  /// The notification that is being sent, or is to be sent again.
  private(set) var current: PendingNotification?
  /// The number of attempts to send the current notification.
  var attempts = 0
  /// Whether the current notification is being sent again.
  var isRetrying = false
  /// Whether the device waits until it may get a silent notification.
  var isPaced = false

  var isEmpty: Bool { current == nil && alerts.isEmpty && !hasSilent }
  var hasAlerts: Bool { !alerts.isEmpty }
  private var hasSilent: Bool { !updates.isEmpty || !roomChanges.isEmpty }

  /// The position of the oldest notification. Reads all silent ones.
  var oldest: LogPosition? {
    [current?.key, alerts.first, updates.oldest, roomChanges.oldest].compactMap { $0?.position }.min()
  }

  /// - Returns: the older silent notification that this one replaces.
  mutating func append(_ pending: PendingNotification) -> PushNotificationKey? {
    guard let group = pending.group else {
      alerts.append(pending.key)
      return nil
    }
    return group.kind == .roomChange ? roomChanges.append(pending.key, group) : updates.append(pending.key, group)
  }

  /// The notification to send next, which becomes the current one; nil if there is none.
  /// - Parameter mayBeSilent: whether the device may get a silent notification now.
  mutating func begin(mayBeSilent: Bool) -> PushNotificationKey? {
    if let current { return current.key }
    let silent = mayBeSilent ? updates.first ?? roomChanges.first : nil
    // The badge of a silent notification must not be followed by that of an older event.
    if let alert = alerts.first, silent.map({ alert < $0 }) ?? true {
      current = PendingNotification(alert)
      alerts.removeFirst()
    } else if silent != nil {
      current = updates.popFirst() ?? roomChanges.popFirst()
    }
    return current?.key
  }

  /// The current notification is settled.
  mutating func end() {
    current = nil
    attempts = 0
  }
}

/// Silent notifications, of which a newer one takes the place of an older one in its group. So no group waits longer because
/// others change often.
struct SilentQueue {
  private var groups: Deque<SilentGroup> = []
  private var newest: [SilentGroup: PushNotificationKey] = [:]

  var isEmpty: Bool { groups.isEmpty }
  var first: PushNotificationKey? { groups.first.flatMap { newest[$0] } }
  /// Reads all.
  var oldest: PushNotificationKey? { newest.values.min() }

  /// - Returns: the notification that is replaced.
  mutating func append(_ key: PushNotificationKey, _ group: SilentGroup) -> PushNotificationKey? {
    let replaced = newest.updateValue(key, forKey: group)
    if replaced == nil { groups.append(group) }
    return replaced
  }

  mutating func popFirst() -> PendingNotification? {
    guard let group = groups.popFirst() else { return nil }
    return newest.removeValue(forKey: group).map { PendingNotification($0, group) }
  }
}
