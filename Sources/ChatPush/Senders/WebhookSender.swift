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
  /// How long an attempt waits for the rest of the body so that the connection can be reused, in milliseconds. Only the
  /// status decides the outcome, so a slow body must not occupy a slot.
  private static let responseBodyMilliseconds: Int64 = 250

  private let address: ProviderAddress
  private let secret: SymmetricKey
  private let client: ProviderClient

  /// - Parameter url: an absolute URL with `http` or `https`.
  package init(url: String, secret: [UInt8], _ threads: PushThreads) throws(WebhookError) {
    guard let parsed = URL(string: url), let scheme = parsed.scheme?.lowercased(), ["http", "https"].contains(scheme),
      parsed.host?.isEmpty == false, let address = try? ProviderAddress(url)
    else { throw .unusableURL(url) }
    guard secret.count >= Self.secretMinimumBytes else { throw .secretTooShort(bytes: secret.count) }
    self.address = address
    self.secret = SymmetricKey(data: secret)
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = PushDispatcher.concurrency
    configuration.httpVersion = .http1Only
    client = ProviderClient(
      configuration, timeout: .seconds(Self.timeoutSeconds), bodyTime: .milliseconds(Self.responseBodyMilliseconds),
      threads)
  }

  package func send(_ notification: PushNotification) async -> SendResult {
    do {
      let body = try PushNotificationBody(notification).bytes()
      let headers: HTTPHeaders = [
        "Content-Type": "application/json", "Hansard-Delivery-Key": notification.deliveryKey,
        "Hansard-Signature": Self.signature(of: body, secret: secret),
      ]
      return Self.result(of: try await client.post(address, headers, body).status)
    } catch let error as ProviderUnreachable {
      return .failed(reason: error.reason)
    } catch {
      return .failed(reason: "\(error)")
    }
  }

  package func close() async { await client.close() }

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
