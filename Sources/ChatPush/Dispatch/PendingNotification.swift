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
