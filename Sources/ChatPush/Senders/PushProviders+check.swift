import ChatDomain
import ChatPrimitives

extension PushProviders {
  /// What a provider said to a notification for a token that no device has.
  package struct Check: Sendable, Hashable {
    package let provider: ProviderName
    /// Why notifications would not arrive, and what to do. Nil if the provider accepts the credentials.
    package let problem: String?
  }

  private static let noDelivery = String(repeating: "0", count: 64)

  /// A token of the right form that belongs to no device.
  private static func noDevice(_ provider: PushProvider) -> String {
    let zeros = { String(repeating: "0", count: $0) }
    return switch provider {
    case .apns, .webPush: zeros(64)
    case .fcm: zeros(22) + ":APA91b" + zeros(134)
    }
  }

  /// Sends a silent notification to no device through each provider that can be asked. A push service of a browser can be
  /// asked only about the subscription of a browser, so Web Push is left out.
  package func check(_ configuration: Configuration) async -> [Check] {
    var checks: [Check] = []
    if let apns = configuration.apns {
      let name: ProviderName = apns.environment == .sandbox ? .apnsSandbox : .apns
      checks.append(Check(provider: name, problem: await problem(.apns, apns.environment)))
    }
    if configuration.fcm != nil { checks.append(Check(provider: .fcm, problem: await problem(.fcm, nil))) }
    return checks
  }

  private func problem(_ provider: PushProvider, _ environment: APNsEnvironment?) async -> String? {
    let notification = PushNotification(
      key: .origin, deliveryKey: Self.noDelivery,
      token: PushToken(provider: provider, token: Self.noDevice(provider)),
      content: PushContent(time: Self.systemTime()), delivery: FanOut.Delivery(kind: .update), badge: 0,
      apnsEnvironment: environment)
    switch await send(notification) {
    // What is wrong with the token is found only after the credentials were accepted.
    case .delivered, .tokenInvalid, .rejected: return nil
    case .failed(let reason, _), .providerPaused(let reason, _, _), .possiblyWrongKey(let reason, _, _, _),
      .keyRefused(let reason, _, _), .providerStopped(let reason, _), .held(let reason, _),
      .originPaused(_, let reason, _):
      return reason
    }
  }
}
