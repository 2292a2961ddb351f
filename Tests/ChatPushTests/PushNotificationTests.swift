import ChatDomain
import ChatPrimitives
import Crypto
import Foundation
import Testing

@testable import ChatPush

@Suite struct PushNotificationTests {
  private let log = UUIDBytes(high: 1, low: 2)
  private let key = PushNotificationKey(position: LogPosition(7), user: ben, device: bensPhone)

  @Test("a delivery key is the same for the same log, event, user and device, and differs if any of them differs")
  func deliveryKeys() {
    let known = key.deliveryKey(logIdentity: log)
    #expect(known == key.deliveryKey(logIdentity: log))
    #expect(known.count == 64 && known.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    let others = [
      PushNotificationKey(position: LogPosition(8), user: ben, device: bensPhone).deliveryKey(logIdentity: log),
      PushNotificationKey(position: LogPosition(7), user: anna, device: bensPhone).deliveryKey(logIdentity: log),
      PushNotificationKey(position: LogPosition(7), user: ben, device: bensTablet).deliveryKey(logIdentity: log),
      key.deliveryKey(logIdentity: UUIDBytes(high: 1, low: 3)),
    ]
    #expect(Set(others + [known]).count == 5)
  }

  /// Receivers store delivery keys, so how they are computed must never change. The value was computed with `sha256sum`
  /// from the bytes.
  @Test("a delivery key never changes between versions")
  func goldenDeliveryKey() throws {
    let bytes =
      Array("hansard-delivery-v1".utf8) + log.bytes + [0, 0, 0, 0, 0, 0, 0, 7] + ben.uuid.bytes + bensPhone.uuid.bytes
    #expect(bytes.count == 75)
    #expect(key.deliveryKey(logIdentity: log) == Hexadecimal.text(SHA256.hash(data: bytes)))
    #expect(key.deliveryKey(logIdentity: log) == goldenKey)
  }

  @Test("the body is one line of JSON with everything that a receiver needs")
  func body() throws {
    let notification = sample(text: "two\nlines \u{1F44B}")
    let bytes = try PushNotificationBody(notification).bytes()
    #expect(!bytes.contains(UInt8(ascii: "\n")))
    #expect(try PushNotificationBody(notification).bytes() == bytes)
    let object = try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: any Sendable])
    #expect(
      Set(object.keys) == [
        "deliveryKey", "kind", "silent", "userId", "deviceId", "provider", "token", "roomId", "roomName", "messageId",
        "senderId", "senderNickname", "text", "badge", "position", "sentAt",
      ])
    #expect(object["userId"] as? String == ben.description)
    #expect(object["provider"] as? String == "fcm")
    #expect(object["text"] as? String == "two\nlines \u{1F44B}")
    #expect(object["badge"] as? Int == 3 && object["position"] as? Int == 7)
    #expect(object["sentAt"] as? String == "1970-01-01T00:00:01.000Z")
  }

  @Test("a silent notification, and one without previews, has no text and no names")
  func bodyWithoutTexts() throws {
    for delivery in [
      FanOut.Delivery(kind: .sent), FanOut.Delivery(kind: .message, isQuiet: true),
      FanOut.Delivery(kind: .message, showsPreview: false),
    ] {
      var notification = sample(text: "secret text")
      notification.delivery = delivery
      notification.content.emoji = "secret"
      notification.content.custom = CustomPart(type: "secret.type", body: "{}")
      let object = try JSONSerialization.jsonObject(with: Data(try PushNotificationBody(notification).bytes()))
      let keys = Set(try #require(object as? [String: any Sendable]).keys)
      #expect(keys.isDisjoint(with: ["text", "roomName", "senderNickname"]))
      if !delivery.showsPreview { #expect(keys.isDisjoint(with: ["type", "emoji", "attachment"])) }
    }
  }

  @Test(
    "a text is cut at a whole character",
    arguments: [
      ("", ""), ("abcd", "abcd"), ("abcde", "abcd"), ("abc\u{D55C}", "abc"), ("a\u{D55C}b", "a\u{D55C}"),
      ("\u{1F44B}", "\u{1F44B}"), ("a\u{1F44B}", "a"), ("\u{1F468}\u{200D}\u{1F469}", ""),
    ])
  func cut(text: String, beginning: String) {
    #expect(text.beginning(ofBytes: 4) == beginning)
  }

  /// Uses RFC 4231, test case 2.
  @Test("the signature is HMAC-SHA256 over the body")
  func signature() {
    let body = Array("what do ya want for nothing?".utf8)
    #expect(
      WebhookSender.signature(of: body, secret: SymmetricKey(data: Array("Jefe".utf8)))
        == "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test("2xx means delivered, 410 an invalid token, and everything else is retried")
  func statuses() {
    for status: UInt in [200, 201, 204, 299] { #expect(WebhookSender.result(of: status) == .delivered(response: "\(status)")) }
    #expect(WebhookSender.result(of: 410) == .tokenInvalid(response: "410"))
    for status: UInt in [199, 300, 302, 400, 404, 409, 411, 429, 500, 503] {
      guard case .failed = WebhookSender.result(of: status) else {
        Issue.record("\(status) must be tried again")
        continue
      }
    }
  }

  @Test("a webhook needs an absolute URL and a secret that is long enough")
  func webhooks() async throws {
    let secret = [UInt8](repeating: 1, count: WebhookSender.secretMinimumBytes)
    for url in ["", "example.org/push", "ftp://example.org", "https://"] {
      #expect(throws: WebhookError.unusableURL(url)) { try WebhookSender(url: url, secret: secret, PushThreads()) }
    }
    #expect(throws: WebhookError.secretTooShort(bytes: 15)) {
      try WebhookSender(url: "http://example.org/push", secret: Array(secret.dropLast()), PushThreads())
    }
    let sender = try WebhookSender(url: "http://example.org/push", secret: secret, PushThreads())
    await sender.close()
    await sender.close()
  }

  @Test("the file sink writes a line for each notification, ends an incomplete line, and is private to its owner")
  func fileSink() async throws {
    let path = NSTemporaryDirectory() + "push-" + UUID().uuidString + ".jsonl"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let first = try FileSender(path: path)
    let notification = sample(text: "one")
    await withTaskGroup(of: SendResult.self) { group in
      for _ in 0..<20 { group.addTask { await first.send(notification) } }
      for await result in group { #expect(result == .delivered(response: "written")) }
    }
    await first.close()
    await first.close()
    let line = try PushNotificationBody(notification).bytes() + [UInt8(ascii: "\n")]
    #expect(try Array(Data(contentsOf: URL(filePath: path))) == Array(repeatElement(line, count: 20).joined()))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)

    try Data("{\"cut".utf8).write(to: URL(filePath: path))
    let second = try FileSender(path: path)
    #expect(await second.send(notification) == .delivered(response: "written"))
    await second.close()
    #expect(try Array(Data(contentsOf: URL(filePath: path))) == Array("{\"cut\n".utf8) + line)
  }

  private func sample(text: String) -> PushNotification {
    PushNotification(
      key: key, deliveryKey: key.deliveryKey(logIdentity: log), token: PushToken(provider: .fcm, token: "secret"),
      content: PushContent(
        time: Timestamp(milliseconds: 1000), room: tea, message: .numbered(9), sender: anna, spaceName: "tea",
        senderNickname: "Anna", text: text),
      delivery: FanOut.Delivery(kind: .message), badge: 3)
  }
}

private let goldenKey = "7241afd3c8f2f64b9cace14bb4057571d188536e37d0800060582ef59d15a263"
