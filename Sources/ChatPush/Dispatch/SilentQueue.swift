import DequeModule

/// The silent notifications that wait, at most one of each group. A newer one takes the place of the older one in the
/// queue, so a group that changes often does not delay the others.
struct SilentQueue {
  /// The maximum number of groups that wait. If there are more, the one that has waited longest is dropped: a device
  /// that is so far behind learns what changed when its app asks the server.
  static let capacity = 32
  /// The same while the silent notifications of all devices take too much memory (`PerDeviceQueues.silentCapacity`).
  static let capacityWithoutMemory = 1

  struct Waiting {
    let pending: PendingNotification
    /// How often it was sent.
    var attempts = 0
    /// Why the last attempt failed; nil if none did.
    var lastFailure: String?
  }

  private var groups: Deque<SilentGroup> = []
  private var newest: [SilentGroup: Waiting] = [:]

  var isEmpty: Bool { groups.isEmpty }
  var first: Waiting? { groups.first.flatMap { newest[$0] } }
  /// Reads all.
  var oldest: PushNotificationKey? { newest.values.lazy.map(\.pending.key).min() }

  /// - Returns: the notifications that are replaced, or dropped because there are too many.
  mutating func append(_ key: PushNotificationKey, _ group: SilentGroup, limit: Int) -> [PushNotificationKey] {
    let waiting = Waiting(pending: PendingNotification(key, group))
    var older: [PushNotificationKey] = []
    if let replaced = newest.updateValue(waiting, forKey: group) {
      older.append(replaced.pending.key)
    } else {
      groups.append(group)
    }
    while groups.count > max(limit, 1) {
      // The new one can be the first, because it takes the place of the one that it replaces.
      let longest = groups.remove(at: groups.first == group ? 1 : 0)
      if let dropped = newest.removeValue(forKey: longest) { older.append(dropped.pending.key) }
    }
    return older
  }

  /// - Returns: false if a newer one of the group waits.
  mutating func putBack(_ waiting: Waiting, _ group: SilentGroup) -> Bool {
    guard newest[group] == nil else { return false }
    newest[group] = waiting
    groups.prepend(group)
    return true
  }

  mutating func popFirst() -> Waiting? { groups.popFirst().flatMap { newest.removeValue(forKey: $0) } }
}
