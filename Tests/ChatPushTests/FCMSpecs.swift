import ChatDomain
import ChatPrimitives
import Foundation
import JWTKit
import Testing

@testable import ChatPush

@Suite("Messages of FCM")
struct FCMSpecs {
  private let now = Timestamp(milliseconds: 1_000_000)

  private func message(_ payload: PushPayload, _ android: FCMAndroid = FCMAndroid()) throws -> [String: Any] {
    let body = try members(FCMRequest.body(payload, token: "token", android, at: now))
    return try #require(body["message"] as? [String: Any])
  }

  @Test("an alert has a text, data, and what Android and Apple's devices need")
  func alert() throws {
    let message = try message(PushPayload(sampleNotification()), FCMAndroid(channel: "chats"))
    #expect(message["token"] as? String == "token")
    #expect(message["notification"] as? [String: String] == ["title": "Tea", "body": "Anna: The kettle is on."])
    let data = try #require(message["data"] as? [String: String])
    #expect(data["roomId"] == tea.description && data["position"] == "7" && data["badge"] == "3")
    let android = try #require(message["android"] as? [String: Any])
    #expect(android["priority"] as? String == "HIGH" && android["ttl"] as? String == "86400s")
    #expect(android["collapse_key"] == nil)
    let notification = try #require(android["notification"] as? [String: Any])
    #expect(notification["channel_id"] as? String == "chats" && notification["notification_count"] as? Int == 3)
    let apns = try #require(message["apns"] as? [String: Any])
    let headers = try #require(apns["headers"] as? [String: String])
    #expect(headers["apns-priority"] == "10" && headers["apns-topic"] == nil && headers["authorization"] == nil)
    let aps = try #require((apns["payload"] as? [String: Any])?["aps"] as? [String: Any])
    #expect(aps["badge"] as? Int == 3 && aps["alert"] == nil, "Firebase adds the text")
  }

  @Test("with alerts as data, Android gets the text as data, and Apple's devices show it")
  func dataAlerts() throws {
    for (payload, texts) in [
      (PushPayload(sampleNotification()), ["title": "Tea", "body": "Anna: The kettle is on."]),
      (samplePayload(.localizedAlert(key: "push.message")), ["textKey": "push.message"]),
    ] {
      let message = try message(payload, FCMAndroid(channel: "chats", alerts: .data))
      #expect(message["notification"] == nil)
      let data = try #require(message["data"] as? [String: String])
      #expect(data.filter { ["title", "body", "textKey"].contains($0.key) } == texts)
      let android = try #require(message["android"] as? [String: Any])
      #expect(android["priority"] as? String == "HIGH" && android["notification"] == nil)
      let apns = try #require(message["apns"] as? [String: Any])
      let aps = try #require((apns["payload"] as? [String: Any])?["aps"] as? [String: Any])
      #expect(aps["alert"] is [String: String])
    }
  }

  @Test("a silent message has only data, and replaces the previous one of its kind and room")
  func silent() throws {
    let message = try message(samplePayload(.silent(setsBadge: true), kind: .update))
    #expect(message["notification"] == nil)
    let android = try #require(message["android"] as? [String: Any])
    #expect(android["priority"] as? String == "NORMAL" && android["collapse_key"] as? String == "update.\(tea)")
    #expect(android["notification"] == nil)
  }

  @Test("a message without its token has 4,096 bytes at most", arguments: [-1, 0, 1])
  func size(excess: Int) throws {
    func bytes(_ text: String, token: String) throws -> Int {
      try #require(
        FCMRequest.body(samplePayload(.alert(title: "t", body: text)), token: token, FCMAndroid(), at: now)
      ).count
    }
    let empty = try bytes("", token: "") - 2
    let text = String(repeating: "x", count: FCMRequest.messageBytes - empty + excess)
    #expect(try bytes(text, token: "") - 2 == FCMRequest.messageBytes + min(excess, 0))
    let token = String(repeating: "t", count: 4096)
    #expect(try bytes(text, token: token) - 4098 == FCMRequest.messageBytes + min(excess, 0))
  }

  private func response(
    _ status: UInt, _ canonical: String, _ details: String = "", message: String = "", retryAfter: Duration? = nil
  ) -> FCMResponse {
    let body =
      #"{"error":{"code":\#(status),"message":"\#(message)","status":"\#(canonical)","details":[\#(details)]}}"#
    return FCMResponse(ProviderClient.Response(status: status, retryAfter: retryAfter, body: Array(body.utf8)))
  }

  private func code(_ code: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
  }

  @Test("every documented error code has a result")
  func documentedErrors() {
    let expected: [(UInt, String, String, Expected)] = [
      (500, "UNKNOWN", "UNSPECIFIED_ERROR", .failed), (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", .rejected),
      (404, "NOT_FOUND", "UNREGISTERED", .tokenInvalid), (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", .unclear),
      (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", .paused), (503, "UNAVAILABLE", "UNAVAILABLE", .failed),
      (500, "INTERNAL", "INTERNAL", .failed), (401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", .unclear),
    ]
    for (status, canonical, error, result) in expected {
      #expect(Expected(response(status, canonical, code(error))) == result, "\(error)")
    }
  }

  @Test("the status decides about an error without FCM's code")
  func otherErrors() {
    #expect(Expected(response(401, "UNAUTHENTICATED")) == .renewed)
    #expect(Expected(response(403, "PERMISSION_DENIED")) == .stopped)
    #expect(Expected(response(404, "NOT_FOUND")) == .stopped)
    #expect(Expected(FCMResponse(.init(status: 404, retryAfter: nil, body: Array("<html>".utf8)))) == .stopped)
    #expect(Expected(FCMResponse(.init(status: 502, retryAfter: nil, body: []))) == .failed)
    #expect(FCMResponse(.init(status: 200, retryAfter: nil, body: [])) == .result(.delivered(response: "200")))
  }

  @Test("an invalid argument means an invalid token only if the error names the token")
  func invalidToken() {
    let field =
      #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token"}]}"#
    #expect(Expected(response(400, "INVALID_ARGUMENT", field)) == .tokenInvalid)
    #expect(
      Expected(
        response(
          400, "INVALID_ARGUMENT", code("INVALID_ARGUMENT"),
          message: "The registration token is not a valid FCM registration token")) == .tokenInvalid)
    let other =
      #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.android.ttl"}]}"#
    #expect(Expected(response(400, "INVALID_ARGUMENT", other)) == .rejected)
  }

  @Test("an exceeded quota pauses FCM, unless it is the quota of one device")
  func quotas() {
    #expect(
      response(429, "RESOURCE_EXHAUSTED", code("QUOTA_EXCEEDED"), retryAfter: .seconds(9))
        == .result(.providerPaused(reason: "429 QUOTA_EXCEEDED", failure: "429 QUOTA_EXCEEDED", for: .seconds(9))))
    #expect(
      response(429, "RESOURCE_EXHAUSTED", code("QUOTA_EXCEEDED"))
        == .result(.providerPaused(reason: "429 QUOTA_EXCEEDED", failure: "429 QUOTA_EXCEEDED", for: .seconds(60))))
    let device =
      #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"description":"Message rate to device"}]}"#
    #expect(Expected(response(429, "RESOURCE_EXHAUSTED", code("QUOTA_EXCEEDED") + "," + device)) == .failed)
    #expect(
      response(503, "UNAVAILABLE", code("UNAVAILABLE"), retryAfter: .seconds(9))
        == .result(.providerPaused(reason: "503 UNAVAILABLE", failure: "503 UNAVAILABLE", for: .seconds(9))))
  }

  @Test("an access token is used until a minute before it expires; a wrong key stops the provider, a failure pauses it")
  func accessTokens() throws {
    let granted = #"{"access_token":"ya29","expires_in":3599,"token_type":"Bearer"}"#
    let made = try ServiceAccount.token(in: .init(status: 200, retryAfter: nil, body: Array(granted.utf8)))
    #expect(made.token == "ya29" && made.lifetime == .seconds(3539))
    for (granted, seconds) in [(Int.min, 1), (0, 1), (61, 1), (62, 2), (Int.max, Int.max - 60)] {
      let body = #"{"access_token":"ya29","expires_in":\#(granted),"token_type":"Bearer"}"#
      let made = try ServiceAccount.token(in: .init(status: 200, retryAfter: nil, body: Array(body.utf8)))
      #expect(made.lifetime == .seconds(seconds))
    }
    func failure(_ status: UInt, _ body: String, _ retryAfter: Duration? = nil) -> SendResult? {
      do {
        _ = try ServiceAccount.token(in: .init(status: status, retryAfter: retryAfter, body: Array(body.utf8)))
        return nil
      } catch {
        return (error as? TokenFailure)?.result
      }
    }
    #expect(failure(400, #"{"error":"invalid_grant"}"#).map { Expected($0) } == .stopped)
    #expect(failure(401, "").map { Expected($0) } == .stopped)
    for status: UInt in [200, 429, 500, 503] { #expect(failure(status, "").map { Expected($0) } == .paused) }
  }

  @Test("the request for an access token is signed with the service account's key")
  func grant() async throws {
    let key = try Insecure.RSA.PrivateKey(pem: rsaKey)
    let file: [String: String] = [
      "type": "service_account", "project_id": "chat", "private_key_id": "k1", "private_key": rsaKey,
      "client_email": "push@chat.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
    ]
    let account = try await ServiceAccount(json: JSONEncoder().encode(file))
    let grant = String(decoding: try await account.grant(at: Date(timeIntervalSince1970: 1000)), as: UTF8.self)
    let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    try #require(grant.hasPrefix(prefix))
    struct Claims: JWTPayload {
      let iss: String
      let scope: String
      let aud: String
      let iat: Int
      let exp: Int
      func verify(using algorithm: some JWTAlgorithm) throws {}
    }
    let keys = await JWTKeyCollection().add(rsa: key.publicKey, digestAlgorithm: .sha256, kid: "k1")
    let claims = try await keys.verify(String(grant.dropFirst(prefix.count)), as: Claims.self)
    #expect(claims.iss == file["client_email"] && claims.aud == file["token_uri"])
    #expect(claims.iat == 1000 && claims.exp == 4600)
    #expect(claims.scope == "https://www.googleapis.com/auth/firebase.messaging")
  }
}

/// Made for these tests only.
private let rsaKey = """
  -----BEGIN PRIVATE KEY-----
  MIIEvwIBADANBgkqhkiG9w0BAQEFAASCBKkwggSlAgEAAoIBAQCqjnoc1/OMdt4c
  Y+aciFYpWYM9bY13M6YGlJnV7WX0TNawC7K4StNp0cgqE0Cjj2KDjijZtNm2MaOU
  YtUb26/MTHlgPYX5YEdThxHkU1ScMm6Ev0Ptow8jZcNciYtxRBfFW7Th5It8i4mJ
  X248r5D+GGYbLWvhyhOwLWKgZUTv6c4zriVEmupHKKUYWyH6vtIU0DI+X6DPh5I7
  KTruf1B5MiVHU+ejQqd/kJc6cPowc7qRR9vnrrJWXbVievenMWletoO1LFQxoK9f
  cL1W/rj13r+O1aaY0UqJk35Sj9nNYlo3YaQdYv4wNon8swuFevpFJ0NOCI9ARDtz
  LlJ1hXmjAgMBAAECggEAUryrIDLiQtGnDb6osGay5Xw23iW26oxzjd2ogs6XFtvv
  iZcjK6Ogy0SpBUAxqyZzc74Sswm4U1nhMKqBFvKLZV/zwWwXAdJix3JOi6Sg9uTA
  GEVwfmcLgPBsxQc0Tc3qeiLyrGJiCBjor2tL3sSMYbcUUTrHitCsnFpn7ccyme7W
  hXOAwcCodwFZT/U0dELHidmhbgV+ygxgqbBLloM2liaJaU9JyY0gAzDkbmEZovPY
  D9sB2IJKzBBhaAh+Qpa8J6t5k6XasGa9Ba8xD93ges31YpWsTMVB2Bwq8Gs1rIzF
  QWKsOu/V/ZRSwPJJA8i1LyNwa6zCMaJfvWiCRIbtgQKBgQDgpIOyAP70q4ABJDLc
  8k34rjMhvHd2T4lor0bILaRmw+TOgefbOysiIfJYZPtoed82nlP5ifQX1380Qc6L
  95JxnhN/GA8iOT3eQMb/XtftzX1aYvtq54ZwOt2/l6nvUtXkgcORf58Gxrs/4dEr
  XBCFZNDIJSTMRCFzA6Mx3miWfwKBgQDCXTmaY2uxIjcA1cN7tnEkBlzQBvCx6Wu3
  effr7z8LAG//75xWar3m5KHrnFb4XS/u+7BcFtXC9roQU74FTMMuZHTiWZuZHmGt
  luYczSDdQQBAD85CoU3TwgkUDEYbws6J86c9R9zTGcbqFCRnhWRUN57DL96gFTju
  ksdMCEly3QKBgQDU/6hPU1prK2HHs0b28Fi1/pZE2qp655dmRytaCszjE8MTe2EY
  IdYYGw/qeHVY7pWS+DSvWvqy0IWwSuVJGYklabkavPk8fgIHhmwpHwimVj0RQuEY
  0EZMi8ROMcPTRDvC2rdQci2bAzvwqnDmJ/kSQjEkVPO7Kq58m2pVkoigiQKBgQCV
  70yMaL2eu4IqxrwyJx9IZxAZ+gCbfjF2LESwYLMFTaUYjkLP9y/feefe1Y/RsDFV
  7hqyL3tfFu2ZwsAHXpwCocP5CJ8bk3BOdOW2uhbsF0SWJps6kyxyenB+YqmCqNij
  Wq5ce59BydTEph0fLquiu/VhJQBcBYMRp3DOmmXukQKBgQCzQDA+feRDCsK/RfzD
  7/eAgaucvjWrIC0uYp+PgXeR+8sArUDUqp7nGRZi0+O3RyMCv1fCSa/z0xi9QQLF
  rf9CCEcfpxYJRux/WSB9RSN+FmLE+Nnj0wbB/ddsu4yxft8CLbbZ/1VxSgauPbdG
  pjfIVyAbqhceJhTA9gF1GUVzww==
  -----END PRIVATE KEY-----
  """
