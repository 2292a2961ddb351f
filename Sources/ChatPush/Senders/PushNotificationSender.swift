/// Hands a notification to whoever brings it to the device: a webhook, a file, later APNs and FCM.
///
/// A notification may be sent again after a crash, or when an answer was lost, always under the same delivery key.
package protocol PushNotificationSender: Sendable {
  /// Returns when the notification is delivered or is known not to be. Never throws, so that every end has a meaning.
  func send(_ notification: PushNotification) async -> SendResult
  /// Closes connections and files. Called when nothing is in flight; a second call does nothing.
  func close() async
}

package enum SendResult: Sendable, Hashable {
  case delivered
  /// The provider said that the token is dead for good.
  case tokenInvalid
  /// Not delivered, as far as is known; `reason` is for the server's log and holds no token.
  case failed(reason: String)
}
