import ChatPrimitives
import Testing

@testable import ChatService

@Suite("Web Push subscriptions")
struct WebPushSubscriptionSpecs {
  /// The keys of RFC 8291, section 5.
  private static let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
  private static let endpoint = "https://Push.Example.org/send/a1?b=c%20d"

  private func flaw(
    endpoint: String = Self.endpoint, p256dh: String = Self.p256dh, auth: String = Self.auth
  ) -> WebPushSubscription.Flaw? {
    do {
      _ = try WebPushSubscription(endpoint: endpoint, p256dh: p256dh, auth: auth)
      return nil
    } catch {
      return error
    }
  }

  @Test("are stored as one text, and read from it")
  func token() throws {
    let subscription = try WebPushSubscription(endpoint: Self.endpoint, p256dh: Self.p256dh, auth: Self.auth)
    #expect(subscription.token == "\(Self.endpoint) \(Self.p256dh) \(Self.auth)")
    #expect(try WebPushSubscription(token: subscription.token) == subscription)
    #expect(subscription.host == "push.example.org")
    #expect((subscription.publicKey.count, subscription.secret.count) == (65, 16))
    #expect(throws: WebPushSubscription.Flaw.endpoint) { try WebPushSubscription(token: Self.endpoint) }
    #expect(throws: WebPushSubscription.Flaw.endpoint) { try WebPushSubscription(token: subscription.token + " x") }
  }

  @Test(
    "have an https URL without a user, a port or a fragment",
    arguments: [
      "http://push.example.org/a", "HTTPS://push.example.org/a", "https:///a", "https://", "",
      "https://push.example.org:443/a", "https://anna@push.example.org/a", "https://push.example.org/a#b",
      "https://[::1]/a", "https://push.example.org\\@internal/a", "https://push.example.org?a", "https://päsh.org/a",
      "https://push.example.org/ä", "https://push.example.org/a b", "https://push.example.org/a\n",
      "https://push.example.org\t/a",
    ])
  func endpoint(url: String) {
    #expect(flaw(endpoint: url) == .endpoint)
  }

  @Test("have an endpoint of at most 1,024 bytes", arguments: [1023, 1024, 1025])
  func endpointLength(bytes: Int) {
    let start = "https://push.example.org/"
    let url = start + String(repeating: "a", count: bytes - start.utf8.count)
    #expect(flaw(endpoint: url) == (bytes > Limits.webPushEndpointBytes ? .endpoint : nil))
  }

  @Test("have an uncompressed point of P-256")
  func publicKey() throws {
    let point = try #require(Base64URL.decode(Self.p256dh, atMost: 65))
    let compressed = [UInt8(2 + point[64] % 2)] + point[1...32]
    let offCurve = point.dropLast() + [point[64] ^ 1]
    let zero = [4] + [UInt8](repeating: 0, count: 64)
    for bytes in [[], compressed, Array(offCurve), Array(point.dropLast()), point + [0], zero] {
      #expect(flaw(p256dh: Base64URL.encode(bytes)) == .publicKey)
    }
    #expect(flaw(p256dh: Self.p256dh + "=") == .publicKey)
    #expect(flaw(p256dh: Self.p256dh.replacing("_", with: "/")) == .publicKey)
  }

  @Test("have a secret of 16 bytes", arguments: [0, 15, 16, 17])
  func secret(bytes: Int) {
    #expect(flaw(auth: Base64URL.encode([UInt8](repeating: 7, count: bytes))) == (bytes == 16 ? nil : .secret))
  }
}
