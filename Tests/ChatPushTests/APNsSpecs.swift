import ChatDomain
import ChatPrimitives
import Foundation
import JWTKit
import NIOHTTP1
import Testing

@testable import ChatPush

@Suite("Requests to APNs")
struct APNsSpecs {
  @Test("the token is the last part of the path; a text that cannot be part of a path is not a token")
  func paths() {
    #expect(APNsRequest.path(of: "00fc13ad") == "/3/device/00fc13ad")
    for token in ["", "a/b", "..", "a?b", "a b", "a%2fb", "\u{E9}"] { #expect(APNsRequest.path(of: token) == nil) }
  }

  @Test("an alert has priority 10, the topic, the delivery key's UUID and the time when it expires")
  func alertHeaders() {
    let payload = PushPayload(sampleNotification())
    let headers = APNsRequest.headers(payload, topic: "org.example.chat", authorization: "jwt")
    #expect(headers["apns-topic"] == ["org.example.chat"] && headers["authorization"] == ["bearer jwt"])
    #expect(headers["apns-push-type"] == ["alert"] && headers["apns-priority"] == ["10"])
    #expect(headers["apns-id"] == [payload.id] && headers["apns-expiration"] == ["87400"])
    #expect(headers["apns-collapse-id"].isEmpty)
    #expect(APNsRequest.headers(payload, topic: "t", authorization: nil)["authorization"].isEmpty)
  }

  @Test("a silent notification has priority 5, and the type background only if it does not set the badge")
  func silentHeaders() {
    let update = APNsRequest.headers(
      samplePayload(.silent(setsBadge: true), kind: .update), topic: "t", authorization: nil)
    #expect(update["apns-push-type"] == ["alert"] && update["apns-priority"] == ["5"])
    #expect(update["apns-collapse-id"] == ["update.\(tea)"])
    let change = APNsRequest.headers(
      samplePayload(.silent(setsBadge: false), kind: .roomChange), topic: "t", authorization: nil)
    #expect(change["apns-push-type"] == ["background"] && change["apns-priority"] == ["5"])
    #expect(change["apns-collapse-id"] == ["roomChange.\(tea)"])
  }

  @Test("the body of an alert has what iOS shows in aps, and the IDs next to aps")
  func alertBody() throws {
    let body = try members(APNsRequest.body(PushPayload(sampleNotification())))
    let aps = try #require(body["aps"] as? [String: Any])
    #expect(aps["alert"] as? [String: String] == ["title": "Tea", "body": "Anna: The kettle is on."])
    #expect(aps["badge"] as? Int == 3 && aps["sound"] as? String == "default")
    #expect(aps["category"] as? String == "message" && aps["thread-id"] as? String == tea.description)
    #expect(aps["mutable-content"] as? Int == 1 && aps["content-available"] == nil)
    #expect(body["roomId"] as? String == tea.description && body["kind"] as? String == "message")
    #expect(body["senderId"] as? String == anna.description && body["threadId"] == nil)
    #expect(body["position"] as? Int == 7 && body["badge"] as? Int == 3)
  }

  @Test("the body of a silent notification has no text, and a badge only if it sets the badge")
  func silentBody() throws {
    for setsBadge in [true, false] {
      let body = try members(APNsRequest.body(samplePayload(.silent(setsBadge: setsBadge), kind: .update)))
      let aps = try #require(body["aps"] as? [String: Int])
      #expect(aps == (setsBadge ? ["content-available": 1, "badge": 3] : ["content-available": 1]))
    }
  }

  @Test("without previews, the alert has the key of a text in the app")
  func localized() throws {
    let body = try members(APNsRequest.body(samplePayload(.localizedAlert(key: "push.message"))))
    let aps = try #require(body["aps"] as? [String: Any])
    #expect(aps["alert"] as? [String: String] == ["loc-key": "push.message"])
  }

  @Test("a body has 4,096 bytes at most, whatever its text", arguments: [-1, 0, 1])
  func size(excess: Int) throws {
    let empty = try #require(APNsRequest.body(samplePayload(.alert(title: "t", body: "")))).count
    let text = String(repeating: "x", count: APNsRequest.bodyBytes - empty + excess)
    let body = try #require(APNsRequest.body(samplePayload(.alert(title: "t", body: text))))
    #expect(body.count == APNsRequest.bodyBytes + min(excess, 0))
    // Each of these characters takes six bytes in JSON.
    let controls = String(repeating: "\u{1}", count: 1024)
    #expect(try #require(APNsRequest.body(samplePayload(.alert(title: controls, body: controls)))).count <= 4096)
  }

  @Test("every documented reason has a result", arguments: documentedReasons)
  func responses(status: UInt, reason: String, expected: Expected) throws {
    let body = try JSONEncoder().encode(["reason": reason])
    let response = APNsResponse(ProviderClient.Response(status: status, retryAfter: nil, body: Array(body)))
    #expect(Expected(response) == expected)
  }

  @Test("the status decides about a response without a known reason")
  func unknownReasons() {
    let expected: [(UInt, Expected)] = [
      (200, .delivered), (400, .rejected), (403, .stopped), (404, .stopped), (405, .stopped), (410, .tokenInvalid),
      (413, .rejected), (418, .failed), (429, .failed), (500, .failed), (502, .failed), (503, .failed),
    ]
    for (status, result) in expected {
      #expect(Expected(APNsResponse(status: status, reason: nil, retryAfter: nil)) == result || status == 200)
      #expect(Expected(APNsResponse(status: status, reason: "New", retryAfter: nil)) == result || status == 200)
    }
    #expect(
      APNsResponse(ProviderClient.Response(status: 200, retryAfter: nil, body: []))
        == .result(.delivered(response: "200")))
  }

  @Test("a device of an environment other than the server's cannot stop the provider")
  func otherEnvironment() throws {
    for reason in ["BadEnvironmentKeyIdInToken", "BadCertificateEnvironment"] {
      let body = try JSONEncoder().encode(["reason": reason])
      let response = ProviderClient.Response(status: 403, retryAfter: nil, body: Array(body))
      #expect(Expected(APNsResponse(response, isOwnEnvironment: false)) == .rejected)
      #expect(Expected(APNsResponse(response)) == .stopped)
    }
  }

  @Test("Retry-After delays only the device after TooManyRequests, and pauses APNs after 503")
  func retryAfter() {
    let device = APNsResponse(status: 429, reason: "TooManyRequests", retryAfter: .seconds(7))
    #expect(device == .result(.failed(reason: "429 TooManyRequests", retryAfter: .seconds(7))))
    let all = APNsResponse(status: 503, reason: "ServiceUnavailable", retryAfter: .seconds(7))
    #expect(all == .result(.providerPaused(reason: "503 ServiceUnavailable", failure: "503 ServiceUnavailable", for: .seconds(7))))
  }

  @Test("a provider token has the key's ID, the team and the time")
  func providerToken() async throws {
    let key = ES256PrivateKey()
    let made = try await APNsKey(pem: key.pemRepresentation, keyID: "KEY1234567", teamID: "TEAM123456")
      .token(at: Date(timeIntervalSince1970: 1_800_000_000.9))
    #expect(made.lifetime == .seconds(50 * 60))
    struct Claims: JWTPayload {
      let iss: String
      let iat: Int
      func verify(using algorithm: some JWTAlgorithm) throws {}
    }
    let keys = await JWTKeyCollection().add(ecdsa: key.publicKey, kid: "KEY1234567")
    let claims = try await keys.verify(made.token, as: Claims.self)
    #expect(claims.iss == "TEAM123456" && claims.iat == 1_800_000_000)
  }
}

/// What a response leads to, without its texts.
enum Expected: Sendable, Hashable {
  case delivered
  case tokenInvalid
  case rejected
  case failed
  case paused
  case stopped
  case renewed
  /// The token may be of another app, or the settings.
  case unclear

  init(_ result: SendResult) {
    self =
      switch result {
      case .delivered: .delivered
      case .tokenInvalid: .tokenInvalid
      case .rejected: .rejected
      case .failed: .failed
      case .possiblyWrongKey: .unclear
      case .providerPaused, .originPaused, .held: .paused
      case .keyRefused, .providerStopped: .stopped
      }
  }

  init(_ response: APNsResponse) {
    switch response {
    case .tokenExpired: self = .renewed
    case .notForTopic: self = .unclear
    case .result(let result): self.init(result)
    }
  }

  init(_ response: FCMResponse) {
    switch response {
    case .unauthenticated: self = .renewed
    case .otherProject: self = .unclear
    case .result(let result): self.init(result)
    }
  }
}

/// Apple's table: https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
private let documentedReasons: [(UInt, String, Expected)] = [
  (400, "BadCollapseId", .rejected), (400, "BadDeviceToken", .tokenInvalid), (400, "BadExpirationDate", .rejected),
  (400, "BadMessageId", .rejected), (400, "BadPriority", .rejected), (400, "BadTopic", .stopped),
  (400, "DeviceTokenNotForTopic", .unclear), (400, "DuplicateHeaders", .rejected), (400, "IdleTimeout", .failed),
  (400, "InvalidPushType", .rejected), (400, "MissingDeviceToken", .tokenInvalid), (400, "MissingTopic", .stopped),
  (400, "PayloadEmpty", .rejected), (400, "TopicDisallowed", .stopped), (403, "BadCertificate", .stopped),
  (403, "BadCertificateEnvironment", .stopped), (403, "BadEnvironmentKeyIdInToken", .stopped),
  (403, "ExpiredProviderToken", .renewed), (403, "Forbidden", .stopped), (403, "InvalidProviderToken", .stopped),
  (403, "MissingProviderToken", .stopped), (403, "UnrelatedKeyIdInToken", .stopped), (404, "BadPath", .stopped),
  (405, "MethodNotAllowed", .stopped), (410, "ExpiredToken", .tokenInvalid), (410, "Unregistered", .tokenInvalid),
  (413, "PayloadTooLarge", .rejected), (429, "TooManyProviderTokenUpdates", .paused),
  (429, "TooManyRequests", .failed), (500, "InternalServerError", .failed), (503, "ServiceUnavailable", .failed),
  (503, "Shutdown", .failed),
]
