import ChatDomain
package import CoreMetrics
import ServerMetrics

/// Passes notifications on to another sender, and counts what its providers responded.
package struct MeteredSender: PushNotificationSender {
  private struct Meters: Sendable {
    let attempts: [Result: Counter]
    let time: Timer
  }

  /// The results as they are counted. A notification that was held was not sent.
  private enum Result: String, CaseIterable {
    case delivered
    case tokenInvalid = "token_invalid"
    case rejected
    case failed
    case providerPaused = "provider_paused"
    case providerStopped = "provider_stopped"

    init?(_ result: SendResult) {
      switch result {
      case .delivered: self = .delivered
      case .tokenInvalid: self = .tokenInvalid
      case .rejected: self = .rejected
      case .failed, .possiblyWrongKey, .originPaused: self = .failed
      case .held: return nil
      case .providerPaused: self = .providerPaused
      case .keyRefused, .providerStopped: self = .providerStopped
      }
    }
  }

  private let sender: any PushNotificationSender
  private let meters: [ProviderName: Meters]

  package init(_ sender: any PushNotificationSender, _ factory: any MetricsFactory) {
    self.sender = sender
    let meters = ProviderName.allCases.map { provider in
      let attempts = Result.allCases.map { result in
        (result, factory.counter(.pushAttempts, ("provider", provider.name), ("result", result.rawValue)))
      }
      return (
        provider,
        Meters(
          attempts: Dictionary(uniqueKeysWithValues: attempts),
          time: factory.timer(.pushSeconds, ("provider", provider.name)))
      )
    }
    self.meters = Dictionary(uniqueKeysWithValues: meters)
  }

  package var queueSettings: [ProviderQueueSettings] { sender.queueSettings }

  package func send(_ notification: PushNotification) async -> SendResult {
    let start = ContinuousClock.now
    let result = await sender.send(notification)
    guard let counted = Result(result) else { return result }
    let meters = meters[ProviderName(notification.token.provider, notification.apnsEnvironment)]
    meters?.time.record(since: start)
    meters?.attempts[counted]?.increment()
    return result
  }

  package func close() async { await sender.close() }
}
