import ChatDomain
import ChatPrimitives
import ChatService
import Crypto
import Foundation
import JWTKit
import NIOHTTP1
import Testing

@testable import ChatPush

@Suite("Web Push")
struct WebPushSpecs {
  /// RFC 8291, appendix A.
  private enum Example {
    static let plaintext = "When I grow up, I want to be a watermelon"
    static let serverKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    static let browserKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    static let browserPublicKey =
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
    static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    static let message =
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
      + "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
      + "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
  }

  private static let endpoint = "https://push.example.net/s/1"

  private func token(_ endpoint: String = WebPushSpecs.endpoint) -> String {
    "\(endpoint) \(Example.browserPublicKey) \(Example.auth)"
  }

  private func target() throws -> WebPushTarget {
    try #require(WebPushTarget(token: token(), hosts: WebPushHosts(["push.example.net"])))
  }

  @Test("a message is encrypted as in the example of RFC 8291")
  func example() throws {
    let key = try P256.KeyAgreement.PrivateKey(
      rawRepresentation: #require(Base64URL.decode(Example.serverKey, atMost: 32)))
    let salt = try #require(Base64URL.decode(Example.salt, atMost: 16))
    let message = try WebPushEncryption.encrypt(Array(Example.plaintext.utf8), for: target(), key: key, salt: salt)
    #expect(Base64URL.encode(message) == Example.message)
  }

  /// The same message with swift-crypto's HKDF (RFC 5869), of which `WebPushEncryption` computes only the first block.
  private func message(
    _ content: [UInt8], to browser: [UInt8], _ auth: [UInt8], _ key: P256.KeyAgreement.PrivateKey, salt: [UInt8]
  ) throws -> [UInt8] {
    let publicKey = Array(key.publicKey.x963Representation)
    let shared = try key.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(x963Representation: browser))
    let input = shared.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: auth, sharedInfo: Array("WebPush: info\0".utf8) + browser + publicKey,
      outputByteCount: 32)
    func derived(_ info: String, bytes: Int) -> SymmetricKey {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: \(info)\0".utf8), outputByteCount: bytes)
    }
    let nonce = try derived("nonce", bytes: 12).withUnsafeBytes { try AES.GCM.Nonce(data: $0) }
    let sealed = try AES.GCM.seal(content + [2], using: derived("aes128gcm", bytes: 16), nonce: nonce)
    return salt + [0, 0, 16, 0, 65] + publicKey + Array(sealed.ciphertext) + Array(sealed.tag)
  }

  @Test("a message is encrypted as with the HKDF of swift-crypto, for any keys", arguments: 0..<20)
  func derivation(length: Int) throws {
    let browser = Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
    let (auth, salt) = (randomBytes(16), randomBytes(16))
    let content = randomBytes(length * 200)
    let target = try #require(
      WebPushTarget(
        token: "\(Self.endpoint) \(Base64URL.encode(browser)) \(Base64URL.encode(auth))",
        hosts: WebPushHosts(["push.example.net"])))
    let key = WebPushEncryption.newKey()
    #expect(
      try WebPushEncryption.encrypt(content, for: target, key: key, salt: salt)
        == message(content, to: browser, auth, key, salt: salt))
  }

  private func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

  @Test("each message has a key and a salt of its own, and the longest has 4,096 bytes")
  func encryption() throws {
    let content = [UInt8](repeating: 1, count: WebPushEncryption.contentBytes)
    let messages = try (0..<2).map { _ in try WebPushEncryption.encrypt(content, for: target()) }
    #expect(WebPushEncryption.contentBytes == 3993 && messages.allSatisfy { $0.count == 4096 })
    #expect(messages[0].prefix(16) != messages[1].prefix(16))
    #expect(messages[0].dropFirst(21).prefix(65) != messages[1].dropFirst(21).prefix(65))
  }

  @Test("a token is an endpoint, a public key and a secret")
  func tokens() throws {
    let hosts = WebPushHosts(["push.example.net"])
    #expect(WebPushTarget(token: token(), hosts: hosts)?.origin == "https://push.example.net")
    let (key, auth) = (Example.browserPublicKey, Example.auth)
    for wrong in [
      "", Self.endpoint, "\(Self.endpoint) \(key)", "\(Self.endpoint) \(key) \(auth) x", "\(Self.endpoint)  \(auth)",
      "\(Self.endpoint) \(auth) \(key)", "\(Self.endpoint) \(key) AAAA", "\(Self.endpoint) \(key)= \(auth)",
      // Not a point of the curve.
      "\(Self.endpoint) \(Base64URL.encode([4] + [UInt8](repeating: 1, count: 64))) \(auth)",
      "http://push.example.net/s/1 \(key) \(auth)",
    ] {
      #expect(WebPushTarget(token: wrong, hosts: hosts) == nil, "\(wrong)")
    }
  }

  @Test("the host is a valid DNS name")
  func hosts() {
    let hosts = WebPushHosts([".example.net"])
    let label = String(repeating: "a", count: 63)
    for name in ["a", "a-b", label, "\(label).\(label).\(label)"] {
      #expect(hosts.allows("https://\(name).example.net/s"), "\(name)")
    }
    for name in ["", ".", "a.", ".a", "a..b", "-a", "a-", "-", label + "a", "\(label).\(label).\(label).\(label)"] {
      #expect(!hosts.allows("https://\(name).example.net/s"), "\(name)")
    }
  }

  @Test("a subscription in memory is what its token says, and their number is limited")
  func targets() throws {
    let targets = WebPushTargets(WebPushHosts(["push.example.net"]))
    for endpoint in ["https://PUSH.example.net/s/1?a=%2F", Self.endpoint, "https://push.example.net/s/2"] {
      let expected = try #require(WebPushTarget(token: token(endpoint), hosts: WebPushHosts(["push.example.net"])))
      for _ in 1...2 {
        let found = try #require(targets.target(of: token(endpoint)))
        #expect(found.address.url == expected.address.url && found.origin == expected.origin)
        #expect(
          found.point == expected.point && found.publicKey.rawRepresentation == expected.publicKey.rawRepresentation)
      }
    }
    #expect(targets.target(of: token(Self.endpoint))?.address.url == Self.endpoint)
    #expect(
      targets.target(of: token("https://PUSH.example.net/s/1?a=%2F"))?.address.url
        == "https://push.example.net/s/1?a=%2F")
    #expect(targets.target(of: token("https://evil.com/s/1")) == nil && targets.target(of: "") == nil)
    #expect(targets.count == 3, "what is no subscription is not kept")
    for number in 0..<WebPushTargets.capacity {
      #expect(targets.target(of: token("https://push.example.net/\(number)")) != nil)
    }
    #expect(targets.count <= WebPushTargets.capacity)
  }

  @Test("an entry of the allowed hosts is a host or a suffix")
  func entries() {
    #expect(WebPushHosts.invalidEntry(in: WebPushHosts.defaults + ["127.0.0.1", "PUSH.example.net"]) == nil)
    for wrong in ["push.example.net:8443", "https://push.example.net", "*.example.net", "", ".", "a b"] {
      #expect(WebPushHosts.invalidEntry(in: ["push.example.net", wrong]) == wrong)
    }
  }

  @Test(
    "messages go to allowed hosts only",
    arguments: [
      ("https://push.example.net/s/1", true), ("HTTPS://PUSH.example.net/s", true), ("https://a.example.org/s", true),
      ("https://127.0.0.1/s", true), ("https://push.example.net/", true),
      ("https://push.example.net", false), ("https://push.example.net:443/s", false),
      ("https://push.example.net:8443/s", false), ("https://a.example.org:8443/s", false),
      ("https://example.org/s", false), ("https://.example.org/s", false), ("https://xexample.org/s", false),
      ("https://evilexample.org/s", false),
      ("https://127.0.0.1:8443/s", false), ("https://127.0.0.2/s", false),
      ("https://push.example.net.evil.com/s", false),
      ("https://evil.com/push.example.net", false), ("https://user@push.example.net/s", false),
      ("https://user:x@push.example.net/s", false), ("https://push.example.net@evil.com/s", false),
      ("https://evil.com#@push.example.net/s", false), ("https://evil.com?@push.example.net/s", false),
      ("https://evil.com\\@push.example.net/s", false), ("https://push.example.net/s#part", false),
      ("https://evil%2f.example.org/s", false), ("https:push.example.net/s", false), ("//push.example.net/s", false),
      ("ftp://push.example.net/s", false), ("https://[::1]/s", false), ("https://localhost/s", false),
      ("https://push.example.net/s\u{E9}", false), ("https://169.254.169.254/latest", false), ("", false),
    ])
  func hosts(endpoint: String, isAllowed: Bool) {
    let hosts = WebPushHosts(["push.example.net", ".example.org", "127.0.0.1"])
    #expect((hosts.origin(of: endpoint) != nil) == isAllowed)
  }

  @Test("an endpoint has 1,024 bytes at most", arguments: [-1, 0, 1])
  func endpointLength(excess: Int) {
    let start = "https://push.example.net/"
    let endpoint = start + String(repeating: "x", count: WebPushTarget.endpointBytes - start.utf8.count + excess)
    #expect((WebPushHosts(["push.example.net"]).origin(of: endpoint) != nil) == (excess <= 0))
  }

  @Test("the default hosts are the push services of the browsers")
  func usualHosts() {
    let hosts = WebPushHosts()
    for endpoint in [
      "https://fcm.googleapis.com/fcm/send/x", "https://updates.push.services.mozilla.com/wpush/v2/x",
      "https://wns2-par02p.notify.windows.com/w/?token=x", "https://web.push.apple.com/x",
    ] {
      #expect(hosts.origin(of: endpoint) != nil)
    }
  }

  @Test("headers: lifetime, urgency, and a topic of at most 32 characters")
  func headers() {
    let now = Timestamp(milliseconds: 1_000_000)
    let alert = WebPushRequest.headers(PushPayload(sampleNotification()), authorization: "vapid", at: now)
    #expect(alert["ttl"] == ["86400"] && alert["urgency"] == ["high"] && alert["content-encoding"] == ["aes128gcm"])
    #expect(alert["topic"].first?.count == 32 && alert["authorization"] == ["vapid"])
    let change = WebPushRequest.headers(
      samplePayload(.silent(setsBadge: false), kind: .roomChange), authorization: "vapid", at: now)
    #expect(change["urgency"] == ["normal"] && change["topic"].first?.count == 32)
    let update = WebPushRequest.headers(
      samplePayload(.silent(setsBadge: true), kind: .update), authorization: "vapid", at: now)
    #expect(update["topic"].first?.count == 32 && update["topic"] != change["topic"])
    var later = samplePayload(.silent(setsBadge: true), kind: .update)
    later.clearedThrough = .numbered(10)
    #expect(WebPushRequest.topic(later) == update["topic"].first)
    later.room = cake
    #expect(WebPushRequest.topic(later) != update["topic"].first)
  }

  @Test("the content has the texts and the IDs, and fits", arguments: [-1, 0, 1])
  func content(excess: Int) throws {
    let body = try members(WebPushRequest.content(PushPayload(sampleNotification())))
    #expect(body["title"] as? String == "Tea" && body["body"] as? String == "Anna: The kettle is on.")
    #expect(body["roomId"] as? String == tea.description && body["badge"] as? Int == 3)
    let empty = try #require(WebPushRequest.content(samplePayload(.alert(title: "t", body: "")))).count
    let text = String(repeating: "x", count: WebPushEncryption.contentBytes - empty + excess)
    let content = try #require(WebPushRequest.content(samplePayload(.alert(title: "t", body: text))))
    #expect(content.count == WebPushEncryption.contentBytes + min(excess, 0))
  }

  @Test("a message that is too large is no trial after a pause, and is rejected during one")
  func tooLargeForTrial() async throws {
    let tokens = try await VAPIDTokens(P256.Signing.PrivateKey(), subject: "mailto:chat@example.org")
    let pauses = OriginPauses()
    let sender = WebPushSender(
      WebPushConfiguration(tokens: tokens, hosts: WebPushHosts(["push.example.net"])), PushThreads(), pauses: pauses,
      now: { Timestamp(milliseconds: 1_000_000) })
    var payload = samplePayload(.silent(setsBadge: true))
    payload.type = String(repeating: "x", count: WebPushEncryption.contentBytes)
    let notification = sampleNotification(PushToken(provider: .webPush, token: token()))
    let origin = try target().origin
    for length in [Duration.seconds(60), .zero] {
      _ = pauses.pause(origin, for: length, isTrial: true)
      #expect(await sender.send(payload, for: notification) == .rejected(response: "too large"))
    }
    #expect(pauses.opening(of: origin) == .open(isTrial: true), "the trial is still to come")
    await sender.close()
  }

  @Test("each status has its result")
  func responses() {
    let expected: [(UInt, Expected)] = [
      (200, .delivered), (201, .delivered), (202, .delivered), (301, .rejected), (400, .rejected), (401, .rejected),
      (403, .rejected), (404, .tokenInvalid), (410, .tokenInvalid), (413, .rejected), (429, .failed), (500, .failed),
      (503, .failed),
    ]
    for (status, result) in expected {
      #expect(Expected(WebPushRequest.result(.init(status: status, retryAfter: nil, body: []))) == result, "\(status)")
    }
    #expect(
      WebPushRequest.result(.init(status: 429, retryAfter: .seconds(5), body: []))
        == .failed(reason: "429", retryAfter: .seconds(5)))
  }

  @Test("a request is signed for its origin; the token is kept for six hours, for a limited number of origins")
  func vapid() async throws {
    let key = P256.Signing.PrivateKey()
    let tokens = try await VAPIDTokens(key, subject: "mailto:chat@example.org")
    let start = ContinuousClock.now
    let header = try await tokens.authorization(for: "https://push.example.net", at: start)
    let parts = header.split(separator: " ")
    try #require(parts.count == 3 && parts[0] == "vapid" && parts[1].hasPrefix("t=") && parts[1].hasSuffix(","))
    #expect(parts[2] == "k=\(Base64URL.encode(Array(key.publicKey.x963Representation)))")
    struct Claims: JWTPayload {
      let aud: String
      let sub: String
      let exp: Int
      func verify(using algorithm: some JWTAlgorithm) throws {}
    }
    let keys = await JWTKeyCollection().add(ecdsa: try ES256PublicKey(pem: key.publicKey.pemRepresentation))
    let claims = try await keys.verify(String(parts[1].dropFirst(2).dropLast()), as: Claims.self)
    #expect(claims.aud == "https://push.example.net" && claims.sub == "mailto:chat@example.org")
    let lifetime = claims.exp - Int(Date().timeIntervalSince1970)
    #expect(lifetime > 0 && lifetime <= 86_400)
    let again = try await tokens.authorization(for: "https://push.example.net", at: start + .seconds(6 * 3600 - 1))
    #expect(again == header)
    let later = try await tokens.authorization(for: "https://push.example.net", at: start + .seconds(6 * 3600))
    #expect(later != header)
    for number in 0...VAPIDTokens.origins {
      _ = try await tokens.authorization(for: "https://\(number).example.net", at: start)
    }
    #expect(tokens.count <= VAPIDTokens.origins)
  }
}
