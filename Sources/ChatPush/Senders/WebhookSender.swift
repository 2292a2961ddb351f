import AsyncHTTPClient
import ChatPrimitives
import Crypto
import Foundation
import NIOCore
import NIOHTTP1

/// Posts each notification to one URL, with a signature that lets the receiver verify the sender.
///
/// A `2xx` status means that it is delivered, and `410` that the token is invalid. After any other status, and after a
/// timeout, it is sent again. Redirects are not followed.
package final class WebhookSender: PushNotificationSender {
  /// How long one attempt waits for the status, in seconds.
  package static let timeoutSeconds: Int64 = 5
  /// The minimum length of the secret, in bytes.
  package static let secretMinimumBytes = 16
  /// How many bytes of a response's body are read so that the connection can be reused.
  private static let responseBodyBytes = 64 * 1024
  /// How long an attempt waits for the rest of the body so that the connection can be reused, in milliseconds.
  private static let responseBodyMilliseconds: Int64 = 250

  private let url: String
  private let secret: SymmetricKey
  private let client: HTTPClient

  /// - Parameter url: an absolute URL with `http` or `https`.
  package init(url: String, secret: [UInt8], _ threads: PushThreads) throws(WebhookError) {
    guard let parsed = URL(string: url), let scheme = parsed.scheme?.lowercased(), ["http", "https"].contains(scheme),
      parsed.host?.isEmpty == false
    else { throw .unusableURL(url) }
    guard secret.count >= Self.secretMinimumBytes else { throw .secretTooShort(bytes: secret.count) }
    self.url = url
    self.secret = SymmetricKey(data: secret)
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: HTTPClient.Configuration.Timeout(
        connect: .seconds(Self.timeoutSeconds), read: .seconds(Self.timeoutSeconds)))
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = PushDispatcher.concurrency
    // `InformationalResponseLimit` needs the HTTP/1.1 decoder, which an HTTP/2 connection does not have.
    configuration.httpVersion = .http1Only
    configuration.http1_1ConnectionDebugInitializer = { InformationalResponseLimit.add(to: $0) }
    client = HTTPClient(eventLoopGroupProvider: .shared(threads.connections), configuration: configuration)
  }

  package func send(_ notification: PushNotification) async -> SendResult {
    do {
      let body = try PushNotificationBody(notification).bytes()
      var request = HTTPClientRequest(url: url)
      request.method = .POST
      request.headers.add(name: "Content-Type", value: "application/json")
      request.headers.add(name: "Hansard-Delivery-Key", value: notification.deliveryKey)
      request.headers.add(name: "Hansard-Signature", value: Self.signature(of: body, secret: secret))
      request.body = .bytes(ByteBuffer(bytes: body))
      let response = try await client.execute(request, timeout: .seconds(Self.timeoutSeconds))
      await Self.drain(response.body)
      return Self.result(of: response.status.code)
    } catch {
      return .failed(reason: "\(error)")
    }
  }

  /// Reads the body to its end, so that the connection can be reused. If the body is too long or takes too long, the
  /// connection is closed. Only the status decides the outcome, so a slow body must not occupy a slot.
  private static func drain(_ body: HTTPClientResponse.Body) async {
    await withTaskGroup { group in
      group.addTask { _ = try? await body.collect(upTo: responseBodyBytes) }
      group.addTask { try? await Task.sleep(for: .milliseconds(responseBodyMilliseconds)) }
      await group.next()
      group.cancelAll()
    }
  }

  package func close() async {
    try? await client.shutdown()
  }

  /// The value of `Hansard-Signature`: HMAC-SHA256 over the bytes of the body.
  static func signature(of body: [UInt8], secret: SymmetricKey) -> String {
    "sha256=" + Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: body, using: secret))
  }

  static func result(of status: UInt) -> SendResult {
    switch status {
    case 200..<300: .delivered(response: String(status))
    case 410: .tokenInvalid(response: String(status))
    case let other: .failed(reason: "the webhook responded with \(other)")
    }
  }
}

/// Why a webhook cannot be used as configured.
package enum WebhookError: Error, Sendable, Hashable, CustomStringConvertible {
  case unusableURL(String)
  case secretTooShort(bytes: Int)

  package var description: String {
    switch self {
    case .unusableURL(let url): "\"\(url)\" is not an absolute http or https URL"
    case .secretTooShort(let bytes):
      "the secret has \(bytes) bytes; it needs at least \(WebhookSender.secretMinimumBytes)"
    }
  }
}
