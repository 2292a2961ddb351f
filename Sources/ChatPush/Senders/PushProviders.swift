import ChatDomain
package import ChatPrimitives
import Foundation
package import NIOSSL

/// Sends each notification through the provider of its device's token.
package final class PushProviders: PushNotificationSender {
  /// How many requests of one provider are in flight at most. They share a connection, so a high number costs little.
  package static let inFlight = 256
  /// The default number of requests per second: what Google allows a project, and far more than a server sends through
  /// the other providers.
  package static let requestsPerSecond = 10_000

  package static let systemTime: @Sendable () -> Timestamp = {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }

  package struct Configuration: Sendable {
    package var apns: APNsConfiguration?
    package var fcm: FCMConfiguration?
    package var webPush: WebPushConfiguration?
    /// `requestsPerSecond` applies to a provider that has no entry.
    package var requestsPerSecond: [ProviderName: Int] = [:]
    /// Certificate authorities besides those of the system.
    package var authorities: [NIOSSLCertificate] = []
    /// The operator's own texts.
    package var templates = PushTemplates()

    package init() {}

    package var isEmpty: Bool { apns == nil && fcm == nil && webPush == nil }
  }

  package let queueSettings: [ProviderQueueSettings]
  private let apns: APNsSender?
  private let fcm: FCMSender?
  private let webPush: WebPushSender?
  private let templates: PushTemplates

  /// - Parameter now: the time from which the lifetime of a notification is computed.
  package init(
    _ configuration: Configuration, _ threads: PushThreads,
    now: @escaping @Sendable () -> Timestamp = PushProviders.systemTime
  ) {
    // A provider that is not configured has a queue too, so that its notifications get an outcome.
    queueSettings = ProviderName.allCases.map { name in
      ProviderQueueSettings(
        name, concurrency: Self.inFlight,
        requestsPerSecond: configuration.requestsPerSecond[name == .apnsSandbox ? .apns : name]
          ?? Self.requestsPerSecond)
    }
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if !configuration.authorities.isEmpty { tls.additionalTrustRoots = [.certificates(configuration.authorities)] }
    let shared = tls
    templates = configuration.templates
    apns = configuration.apns.map { APNsSender($0, tls: shared, threads) }
    fcm = configuration.fcm.map { FCMSender($0, tls: shared, threads, now: now) }
    webPush = configuration.webPush.map { WebPushSender($0, tls: shared, threads, now: now) }
  }

  package func send(_ notification: PushNotification) async -> SendResult {
    let name = ProviderName(notification.token.provider, notification.apnsEnvironment)
    let payload = PushPayload(notification, templates)
    let result: SendResult? =
      switch name {
      case .apns, .apnsSandbox: await apns?.send(payload, for: notification)
      case .fcm: await fcm?.send(payload, for: notification)
      case .webPush: await webPush?.send(payload, for: notification)
      }
    return result ?? .rejected(response: "push.\(notification.token.provider.name) is not configured")
  }

  package func close() async {
    await apns?.close()
    await fcm?.close()
    await webPush?.close()
  }
}
