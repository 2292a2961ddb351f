import ChatDomain
import ChatPrimitives
import ChatProjections
import Logging

/// The result of one attempt. For `reason` and `failure` see `SendResult`.
enum AttemptResult: Sendable, Hashable {
  /// `response` is what the provider responded, if the notification was not delivered.
  case settled(PushResult, PushAbandonment? = nil, response: String? = nil)
  /// The notification is already settled; nothing was sent.
  case alreadySettled
  case failed(reason: String, failure: String, retryAfter: Duration? = nil)
  /// The provider accepts no notifications now, so this does not count as an attempt.
  case refused(reason: String, failure: String?)
  /// The provider or the service of the device accepts no notifications for this time; nothing was sent.
  case held(reason: String, for: Duration)
  /// The outbox cannot be read, or has not applied all durable events; nothing was sent.
  case postponed(reason: String)
}

/// How an attempt ended.
struct FinishedAttempt: Sendable, Hashable {
  let result: AttemptResult
  /// The provider to which the notification was sent; nil if it was not sent.
  var provider: ProviderName?
  /// What the attempt says about the provider.
  var signal = ProviderGate.Signal.none

  init(_ result: AttemptResult) { self.result = result }

  init(_ result: AttemptResult, from provider: ProviderName, _ signal: ProviderGate.Signal) {
    self.result = result
    self.provider = provider
    self.signal = signal
  }
}

extension PushDispatcher {
  /// Sends one notification with the current token of its device. An invalid token is recorded before the notification
  /// counts as settled.
  ///
  /// - Parameters:
  ///   - queueProvider: the provider that the device had when the notification was decided on; nil if there is one
  ///     queue for all.
  ///   - closed: the providers that accept no notifications now. The provider of the queue is tried anyway.
  func attempt(
    _ key: PushNotificationKey, queuedFor queueProvider: ProviderName? = nil, closed: Set<ProviderName> = []
  ) async -> FinishedAttempt {
    let found: PushQueries.Lookup
    do {
      found = try await notifications.notification(key)
    } catch {
      return FinishedAttempt(.postponed(reason: "the outbox cannot be read: \(error)"))
    }
    switch found {
    case .settled: return FinishedAttempt(.alreadySettled)
    case .unreachable: return FinishedAttempt(.settled(.tokenInvalid))
    case .withdrawn(let reason): return FinishedAttempt(.settled(.abandoned, reason))
    case .ready(let ready):
      guard ready.content.time.adding(milliseconds: RetryPolicy.lifetimeMilliseconds) >= now() else {
        return FinishedAttempt(.settled(.abandoned, .expired))
      }
      if let room = ready.content.room, isOpen(room, key.device, key.user) {
        return FinishedAttempt(.settled(.abandoned, .roomOpen))
      }
      let provider = ProviderName(ready.token.provider, ready.apnsEnvironment)
      if queueProvider != nil, provider != queueProvider, closed.contains(provider) {
        // The device changed its provider.
        return FinishedAttempt(
          .held(reason: "the provider is not available", for: .milliseconds(RetryPolicy.heldMilliseconds)))
      }
      let notification = PushNotification(
        key: key, deliveryKey: key.deliveryKey(logIdentity: logIdentity), token: ready.token, content: ready.content,
        delivery: ready.delivery, badge: ready.badge, apnsEnvironment: ready.apnsEnvironment, language: ready.language)
      return await attempt(notification)
    }
  }

  private func attempt(_ notification: PushNotification) async -> FinishedAttempt {
    let provider = ProviderName(notification.token.provider, notification.apnsEnvironment)
    switch await sender.send(notification) {
    case .delivered: return FinishedAttempt(.settled(.delivered), from: provider, .accepted)
    case .tokenInvalid(let response):
      return FinishedAttempt(await invalidateToken(of: notification, response), from: provider, .reached)
    case .rejected(let response):
      return FinishedAttempt(.settled(.abandoned, .rejected, response: response), from: provider, .reached)
    case .failed(let reason, let retryAfter):
      return FinishedAttempt(.failed(reason: reason, failure: reason, retryAfter: retryAfter), from: provider, .failed)
    case .originPaused(let origin, let response, let duration):
      return FinishedAttempt(
        .failed(reason: response, failure: response, retryAfter: duration), from: provider,
        .originPaused(reason: "\(origin) responded with \(response)"))
    case .held(let reason, let duration): return FinishedAttempt(.held(reason: reason, for: duration))
    case .providerPaused(let reason, let failure, let duration):
      return FinishedAttempt(
        .refused(reason: reason, failure: failure), from: provider, .paused(reason: reason, for: duration))
    case .possiblyWrongKey(let reason, let failure, let canFollowAcceptance, let retryAfter):
      return FinishedAttempt(
        .failed(reason: reason, failure: failure, retryAfter: retryAfter), from: provider,
        .possiblyWrongKey(reason: reason, canFollowAcceptance: canFollowAcceptance))
    case .keyRefused(let reason, let failure, let retryAfter):
      return FinishedAttempt(
        .failed(reason: reason, failure: failure, retryAfter: retryAfter), from: provider,
        .keyRefused(reason: reason))
    case .providerStopped(let reason, let failure):
      return FinishedAttempt(.refused(reason: reason, failure: failure), from: provider, .stopped(reason: reason))
    }
  }

  private func invalidateToken(of notification: PushNotification, _ response: String) async -> AttemptResult {
    do throws(RecordingFailure) {
      switch try await recorder.invalidate(notification.token, of: notification.key.device, of: notification.key.user) {
      case .invalidated(let position):
        // The device's next notification must not use the invalid token. A halted outbox returns no more notifications
        // anyway.
        try? await outbox.wait(for: position)
        if await hasAnotherToken(notification.key) {
          return .failed(reason: "the device has a token of another provider", failure: response)
        }
        return .settled(.tokenInvalid, response: response)
      // The next attempt finds the new token, or that the device has none.
      case .replaced: return .failed(reason: "the token was replaced", failure: response)
      }
    } catch {
      return .failed(reason: "the invalid token could not be recorded: \(error)", failure: response)
    }
  }

  private func hasAnotherToken(_ key: PushNotificationKey) async -> Bool {
    if case .ready = try? await notifications.notification(key) { true } else { false }
  }
}
