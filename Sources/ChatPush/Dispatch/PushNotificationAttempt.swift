import ChatDomain
import ChatPrimitives
import ChatProjections
import Logging

/// The result of one attempt.
enum AttemptResult: Sendable, Hashable {
  case settled(PushResult, PushAbandonment? = nil)
  /// The notification is already settled; nothing was sent.
  case vanished
  case failed(reason: String)
  /// The outbox cannot be read, or has not applied all durable events; nothing was sent.
  case postponed(reason: String)
}

extension PushDispatcher {
  /// Sends one notification with the current token of its device. An invalid token is recorded before the notification
  /// counts as settled.
  ///
  /// The attempt first waits until the outbox has applied all events that are durable when it begins. Otherwise it
  /// could overlook that the token has moved to another user's device, or a ban or deletion whose request was already
  /// completed.
  func attempt(_ key: PushNotificationKey) async -> AttemptResult {
    let found: PushQueries.Found
    do {
      try await waitForWhatIsDurable()
      found = try await outbox.read { try $0.notification(key) }
    } catch {
      return .postponed(reason: "the outbox cannot be read: \(error)")
    }
    switch found {
    case .settled: return .vanished
    case .unreachable: return .settled(.tokenInvalid)
    case .withdrawn(let reason): return .settled(.abandoned, reason)
    case .ready(let token, let message, let badge):
      guard message.sentAt.adding(milliseconds: RetryPolicy.lifetimeMilliseconds) >= now() else {
        return .settled(.abandoned, .expired)
      }
      if isOpen(message.room, key.device, key.user) { return .settled(.abandoned, .roomOpen) }
      let notification = PushNotification(
        key: key, deliveryKey: key.deliveryKey(logIdentity: logIdentity), token: token, message: message, badge: badge)
      return await attempt(notification)
    }
  }

  private func waitForWhatIsDurable() async throws {
    try await outbox.wait(for: head(), timeoutMilliseconds: patienceMilliseconds)
  }

  private func attempt(_ notification: PushNotification) async -> AttemptResult {
    switch await sender.send(notification) {
    case .delivered: return .settled(.delivered)
    case .failed(let reason): return .failed(reason: reason)
    case .tokenInvalid: return await invalidateToken(of: notification)
    }
  }

  private func invalidateToken(of notification: PushNotification) async -> AttemptResult {
    do throws(RecordingFailure) {
      switch try await recorder.invalidate(notification.token, of: notification.key.device, of: notification.key.user) {
      case .invalidated(let position):
        // The device's next notification must not use the invalid token. A halted outbox returns no more notifications
        // anyway.
        try? await outbox.wait(for: position)
        return .settled(.tokenInvalid)
      // The next attempt finds the new token, or that the device has none.
      case .replaced: return .failed(reason: "the token was replaced")
      }
    } catch {
      return .failed(reason: "the invalid token could not be recorded: \(error)")
    }
  }
}
