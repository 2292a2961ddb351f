import ChatDomain
import ChatPrimitives
import Crypto
import NIOSSL

/// Sends notifications to browsers through their push services.
final class WebPushSender: Sendable {
  private let targets: WebPushTargets
  private let tokens: VAPIDTokens
  private let refusals = KeyRefusals()
  private let pauses: OriginPauses
  private let client: ProviderClient
  private let now: @Sendable () -> Timestamp

  init(
    _ configuration: WebPushConfiguration, tls: TLSConfiguration = .makeClientConfiguration(), _ threads: PushThreads,
    pauses: OriginPauses = OriginPauses(), now: @escaping @Sendable () -> Timestamp
  ) {
    targets = WebPushTargets(configuration.hosts)
    tokens = configuration.tokens
    client = ProviderClient(tls, threads)
    self.pauses = pauses
    self.now = now
  }

  func send(_ payload: PushPayload, for notification: PushNotification) async -> SendResult {
    guard let target = targets.target(of: notification.token.token) else {
      return .tokenInvalid(response: "not a subscription at a host of push.webPush.hosts")
    }
    do {
      // What can fail without a request comes before `opening`, because only a response ends a trial.
      guard let content = WebPushRequest.content(payload) else { return .rejected(response: "too large") }
      let authorization = try await tokens.authorization(for: target.origin)
      let headers = WebPushRequest.headers(payload, authorization: authorization, at: now())
      let body = try WebPushEncryption.encrypt(content, for: target)
      let isTrial: Bool
      switch pauses.opening(of: target.origin) {
      case .open(let trial): isTrial = trial
      case .closed(let duration): return .held(reason: "\(target.origin) asked for a pause", for: duration)
      }
      let response = try await client.post(target.address, headers, body)
      return result(of: response, for: target, isTrial: isTrial)
    } catch let error as ProviderUnreachable {
      // The provider is not paused, because browsers have several push services and the others may work.
      return .failed(reason: "no connection: \(error.reason)")
    } catch {
      return .failed(reason: "\(error)")
    }
  }

  private func result(
    of response: ProviderClient.Response, for target: WebPushTarget, isTrial: Bool
  ) -> SendResult {
    if response.status == WebPushRequest.unavailableStatus, let retryAfter = response.retryAfter {
      let pause = pauses.pause(target.origin, for: retryAfter, isTrial: isTrial)
      return .originPaused(origin: target.origin, response: String(response.status), for: pause)
    }
    if isTrial { pauses.end(target.origin) }
    if WebPushRequest.acceptedStatuses.contains(response.status) { refusals.noteAccepted() }
    guard WebPushRequest.refusedKeyStatuses.contains(response.status) else { return WebPushRequest.result(response) }
    return refusals.result(
      of: String(response.status), from: target.origin, for: target.address.url,
      next: """
        check push.webPush.keyFile and push.webPush.subject, or let the browsers subscribe again with the public part of \
        this key
        """)
  }

  func close() async { await client.close() }
}

/// How browsers are reached.
package struct WebPushConfiguration: Sendable {
  let tokens: VAPIDTokens
  var hosts = WebPushHosts()
}
