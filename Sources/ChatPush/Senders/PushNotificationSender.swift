package import ChatDomain

/// Sends a notification towards the device: through APNs, FCM, Web Push, a webhook or a file.
///
/// A notification may be sent again after a crash, or if a response was lost, always under the same delivery key.
package protocol PushNotificationSender: Sendable {
  /// The settings of the queues in which its notifications wait.
  var queueSettings: [ProviderQueueSettings] { get }
  /// Returns when the notification is delivered or is known not to be. Never throws, so that every result is handled.
  func send(_ notification: PushNotification) async -> SendResult
  /// Closes connections and files. Called when nothing is in flight; a second call does nothing.
  func close() async
}

extension PushNotificationSender {
  /// One queue for everything.
  package var queueSettings: [ProviderQueueSettings] { [ProviderQueueSettings()] }
}

/// How the notifications of one queue are sent, independently of those in other queues.
package struct ProviderQueueSettings: Sendable, Hashable {
  /// The provider of the devices; nil for all providers.
  package let provider: ProviderName?
  /// The maximum number of notifications that are sent concurrently.
  package let concurrency: Int
  /// Nil if there is no limit.
  package let requestsPerSecond: Int?

  package init(
    _ provider: ProviderName? = nil, concurrency: Int = PushDispatcher.concurrency, requestsPerSecond: Int? = nil
  ) {
    self.provider = provider
    self.concurrency = concurrency
    self.requestsPerSecond = requestsPerSecond
  }
}

/// The services that can reach devices. The raw values are in the outbox.
package enum ProviderName: UInt8, Sendable, Hashable, CaseIterable {
  case apns = 1
  case fcm = 2
  case webPush = 3
  /// For devices that say that their token is for the sandbox. It is a service of its own, which may fail by itself.
  case apnsSandbox = 4

  /// - Parameter environment: what the device says about its APNs token.
  package init(_ provider: PushProvider, _ environment: APNsEnvironment?) {
    switch provider {
    case .apns: self = environment == .sandbox ? .apnsSandbox : .apns
    case .fcm: self = .fcm
    case .webPush: self = .webPush
    }
  }

  /// What the tools print.
  package var name: String {
    switch self {
    case .apns: "apns"
    case .fcm: "fcm"
    case .webPush: "webPush"
    case .apnsSandbox: "apnsSandbox"
    }
  }
}

/// The result of sending one notification. Responses and reasons are for operators, and contain no token.
///
/// A `failure` is what the provider responded to this notification, or why there was no response; nil if nothing was sent. It
/// is recorded if the notification is given up. A `reason` can also say what to do.
package enum SendResult: Sendable, Hashable {
  /// The provider accepted it. `response` is what it responded, such as "200", which is not recorded: `delivered` implies it.
  case delivered(response: String)
  /// The provider reported that the token is permanently invalid.
  case tokenInvalid(response: String)
  /// The provider will never accept this notification.
  case rejected(response: String)
  /// As far as is known, it was not delivered. It can be sent again, but not before `retryAfter`.
  case failed(reason: String, retryAfter: Duration? = nil)
  /// One of the provider's services, at `origin`, asked for a pause. The notification can be sent again after it.
  case originPaused(origin: String, response: String, for: Duration)
  /// Nothing was sent, because the service of this device asked for a pause before. The notification can be sent after it.
  case held(reason: String, for: Duration)
  /// The provider accepts no notifications for this time.
  case providerPaused(reason: String, failure: String?, for: Duration)
  /// The provider refused the notification, perhaps because a key or a topic is wrong. The notification can be sent again after
  /// `retryAfter`; until the provider accepts one, an operator should check what `reason` says.
  /// - `canFollowAcceptance`: whether the provider can respond so after it has accepted a notification.
  case possiblyWrongKey(reason: String, failure: String, canFollowAcceptance: Bool = false, retryAfter: Duration)
  /// The provider refused the server's key or topic for this device and for so many others that it is probably wrong. The
  /// notification can be sent again after `retryAfter`; an operator has to do what `reason` says.
  case keyRefused(reason: String, failure: String, retryAfter: Duration)
  /// The provider accepts no notifications until an operator does what `reason` says.
  case providerStopped(reason: String, failure: String?)
}
