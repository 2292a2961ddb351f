import Foundation

/// What a response of APNs means:
/// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
enum APNsResponse: Sendable, Hashable {
  /// The provider token must be renewed.
  case tokenExpired
  /// The token belongs to another app than `push.apns.topic`; see `KeyRefusals`.
  case notForTopic(response: String)
  case result(SendResult)

  /// How long a device that got too many notifications gets none, in seconds, if there is no `Retry-After`.
  private static let deviceSeconds: Int64 = 60
  /// How long APNs is paused after too many new provider tokens, in seconds, if there is no `Retry-After`.
  private static let tokenSeconds: Int64 = 60

  /// - Parameter isOwnEnvironment: whether the request went to the environment in the settings. If it went to another
  ///   one and the key is not for that, this concerns only the device and does not stop the provider.
  init(_ response: ProviderClient.Response, isOwnEnvironment: Bool = true) {
    guard response.status != 200 else {
      self = .result(.delivered(response: "200"))
      return
    }
    let reason = Self.reason(in: response.body)
    if let reason, !isOwnEnvironment, Self.environmentReasons.contains(reason) {
      self = .result(.rejected(response: "\(response.status) \(reason)"))
    } else {
      self.init(status: response.status, reason: reason, retryAfter: response.retryAfter)
    }
  }

  private static let environmentReasons = ["BadCertificateEnvironment", "BadEnvironmentKeyIdInToken"]

  init(status: UInt, reason: String?, retryAfter: Duration?) {
    let text = reason.map { "\(status) \($0)" } ?? String(status)
    switch reason {
    case "ExpiredProviderToken": self = .tokenExpired
    case "BadDeviceToken", "MissingDeviceToken", "Unregistered", "ExpiredToken":
      self = .result(.tokenInvalid(response: text))
    case "DeviceTokenNotForTopic": self = .notForTopic(response: text)
    case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "DuplicateHeaders", "InvalidPushType",
      "PayloadEmpty", "PayloadTooLarge":
      self = .result(.rejected(response: text))
    case "BadTopic", "MissingTopic", "TopicDisallowed":
      self = .stopped(text, "push.apns.topic must be the bundle ID of an app that the key or certificate is for")
    case "BadCertificate", "BadCertificateEnvironment":
      self = .stopped(text, "renew the certificate in push.apns.certificateFile; it must be for this environment")
    case "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken":
      self = .stopped(text, "check push.apns.keyFile, push.apns.keyID and push.apns.teamID; the key may be revoked")
    case "BadEnvironmentKeyIdInToken":
      self = .stopped(text, "the key in push.apns.keyFile is not for this environment (sandbox or production)")
    case "Forbidden":
      self = .stopped(text, "check in Apple's developer account that the key may send notifications of push.apns.topic")
    case "BadPath", "MethodNotAllowed":
      self = .stopped(text, "check push.apns.productionURL and push.apns.sandboxURL")
    case "TooManyRequests":
      self = .result(.failed(reason: text, retryAfter: retryAfter ?? .seconds(Self.deviceSeconds)))
    case "TooManyProviderTokenUpdates":
      self = .result(.providerPaused(reason: text, failure: text, for: retryAfter ?? .seconds(Self.tokenSeconds)))
    case "IdleTimeout", "InternalServerError", "Shutdown":
      self = .result(.failed(reason: text, retryAfter: retryAfter))
    default: self = Self.unknown(status, text, retryAfter)
    }
  }

  /// Interprets a response without a reason, or with one that Apple's documentation did not have yet.
  private static func unknown(_ status: UInt, _ text: String, _ retryAfter: Duration?) -> APNsResponse {
    switch status {
    case 400, 413: .result(.rejected(response: text))
    case 403: .stopped(text, "check push.apns.keyFile or push.apns.certificateFile, and push.apns.topic")
    case 404, 405: .stopped(text, "check push.apns.productionURL and push.apns.sandboxURL")
    case 410: .result(.tokenInvalid(response: text))
    case 429: .result(.failed(reason: text, retryAfter: retryAfter ?? .seconds(deviceSeconds)))
    case 503:
      .result(
        retryAfter.map { .providerPaused(reason: text, failure: text, for: $0) } ?? .failed(reason: text))
    default: .result(.failed(reason: text, retryAfter: retryAfter))
    }
  }

  private static func stopped(_ text: String, _ next: String) -> APNsResponse {
    .result(.providerStopped(reason: "APNs responded with \(text); \(next)", failure: text))
  }

  private static func reason(in body: [UInt8]) -> String? {
    struct Problem: Decodable { let reason: String }
    return (try? JSONDecoder().decode(Problem.self, from: Data(body)))?.reason
  }
}
