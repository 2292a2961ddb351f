/// Sends a notification towards the device: through a webhook or a file, later through APNs and FCM.
///
/// A notification may be sent again after a crash, or if a response was lost, always under the same delivery key.
package protocol PushNotificationSender: Sendable {
  /// Returns when the notification is delivered or is known not to be. Never throws, so that every result is handled.
  func send(_ notification: PushNotification) async -> SendResult
  /// Closes connections and files. Called when nothing is in flight; a second call does nothing.
  func close() async
}

package enum SendResult: Sendable, Hashable {
  case delivered
  /// The provider reported that the token is permanently invalid.
  case tokenInvalid
  /// Not delivered, as far as is known. `reason` is for the server's log and contains no token.
  case failed(reason: String)
}
