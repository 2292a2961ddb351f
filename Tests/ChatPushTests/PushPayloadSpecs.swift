import ChatDomain
import ChatPrimitives
import Foundation
import Testing

@testable import ChatPush

/// A notification of Ben's phone about a message of Anna's.
func sampleNotification(
  _ token: PushToken = PushToken(provider: .apns, token: "abcd"), text: String = "The kettle is on.",
  roomName: String = "Tea"
) -> PushNotification {
  let key = PushNotificationKey(position: LogPosition(7), user: ben, device: bensPhone)
  return PushNotification(
    key: key, deliveryKey: key.deliveryKey(logIdentity: testLog), token: token,
    content: PushContent(
      time: Timestamp(milliseconds: 1_000_000), room: tea, message: .numbered(9), sender: anna, spaceName: roomName,
      senderNickname: "Anna", text: text),
    delivery: FanOut.Delivery(kind: .message), badge: 3)
}

func samplePayload(_ style: PushPayload.Style, kind: PushKind = .message) -> PushPayload {
  var payload = PushPayload(sampleNotification())
  payload.style = style
  payload.kind = kind
  // Of updates, only that after a deletion names a message. The others name what was read.
  if kind == .update { (payload.message, payload.clearedThrough) = (nil, payload.message) }
  return payload
}

/// The members of a JSON object.
func members(_ bytes: [UInt8]?) throws -> [String: Any] {
  let data = Data(try #require(bytes))
  return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
}

@Suite("The payload of a notification")
struct PushPayloadSpecs {
  @Test("names the sender in a room with a name; a direct room has the sender's name as its title")
  func texts() {
    #expect(PushPayload(sampleNotification()).style == .alert(title: "Tea", body: "Anna: The kettle is on."))
    #expect(
      PushPayload(sampleNotification(roomName: "")).style == .alert(title: "Anna", body: "The kettle is on."))
  }

  @Test("its ID is the first 16 bytes of the delivery key, as a UUID")
  func id() throws {
    let payload = PushPayload(sampleNotification())
    let uuid = try #require(UUID(uuidString: payload.id))
    #expect(uuid.uuidString.lowercased() == payload.id)
    #expect(payload.deliveryKey.hasPrefix(payload.id.filter { $0 != "-" }))
  }

  @Test("alerts have no collapse ID; silent notifications have one for their kind and room")
  func collapsing() {
    #expect(samplePayload(.alert(title: "", body: "")).collapseID == nil)
    #expect(samplePayload(.silent(setsBadge: true), kind: .update).collapseID == "update.\(tea)")
    #expect(samplePayload(.silent(setsBadge: true), kind: .reply).collapseID == "reply.\(tea)", "an alert in quiet hours")
    #expect(samplePayload(.silent(setsBadge: false), kind: .roomChange).collapseID == "roomChange.\(tea)")
  }

  @Test("it expires after a day")
  func lifetime() {
    let payload = PushPayload(sampleNotification())
    #expect(payload.secondsLeft(at: Timestamp(milliseconds: 1_000_000)) == 86_400)
    #expect(payload.secondsLeft(at: Timestamp(milliseconds: 1_000_000 + 86_400_000)) == 0)
    #expect(payload.secondsLeft(at: Timestamp(milliseconds: 1_000_000 + 90_000_000)) == 0)
  }

  /// Renders the title, a separator and the body.
  private func fitted(_ limit: Int, title: String, body: String) -> String? {
    samplePayload(.alert(title: title, body: body)).fitting(limit) { style in
      guard case .alert(let title, let body) = style else { return [] }
      return Array("\(title)|\(body)".utf8)
    }.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("the body is cut at the limit, then the title, between characters")
  func shortening() {
    #expect(fitted(10, title: "1234", body: "56789") == "1234|56789")
    #expect(fitted(9, title: "1234", body: "56789") == "1234|5678")
    #expect(fitted(11, title: "1234", body: "56789") == "1234|56789")
    #expect(fitted(9, title: "1234", body: "56\u{D55C}") == "1234|56")
    #expect(fitted(5, title: "1234", body: "56789") == "1234|")
    #expect(fitted(4, title: "1234", body: "56789") == "123|")
    #expect(fitted(1, title: "1234", body: "56789") == "|")
    #expect(fitted(0, title: "1234", body: "56789") == nil)
  }

  @Test("a notification without text that is too long cannot be sent")
  func silentTooLong() {
    let payload = samplePayload(.silent(setsBadge: true))
    #expect(payload.fitting(3) { _ in Array("1234".utf8) } == nil)
    #expect(payload.fitting(4) { _ in Array("1234".utf8) } != nil)
  }
}

@Suite("Tokens for providers, and Retry-After")
struct TokenScheduleSpecs {
  private let start = ContinuousClock.now

  @Test("a token is used until its lifetime ends")
  func lifetime() {
    var schedule = TokenSchedule()
    #expect(schedule.usable(at: start) == nil)
    schedule.set("a", for: .seconds(10), at: start)
    #expect(schedule.usable(at: start + .seconds(9.9)) == "a")
    #expect(schedule.usable(at: start + .seconds(10)) == nil)
  }

  @Test("a rejected token is renewed at once, but at most once a minute")
  func rejection() {
    var schedule = TokenSchedule()
    schedule.set("a", for: .seconds(3000), at: start)
    #expect(schedule.reject("a", at: start) && schedule.usable(at: start) == nil)
    schedule.set("b", for: .seconds(3000), at: start)
    let wasRenewed = schedule.reject("a", at: start)
    #expect(wasRenewed, "another request has already renewed it")
    #expect(schedule.usable(at: start) == "b")
    let isRenewed = schedule.reject("b", at: start + .seconds(59))
    #expect(!isRenewed)
    #expect(schedule.usable(at: start) == "b")
    #expect(schedule.reject("b", at: start + .seconds(60)) && schedule.usable(at: start) == nil)
  }

  @Test("all requests that wait for a token get the same one, and a failure is not kept")
  func shared() async throws {
    let counter = Counter()
    let token = SharedToken {
      let number = await counter.next()
      if number == 1 { throw TokenFailure(.failed(reason: "first")) }
      try await Task.sleep(for: .milliseconds(20))
      return SharedToken.Made(token: "token \(number)", lifetime: .seconds(60))
    }
    await #expect(throws: TokenFailure.self) { try await token.current() }
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<20 { group.addTask { try await token.current() } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(tokens == ["token 2"])
  }

  @Test("Retry-After is a number of seconds or a date")
  func retryAfter() {
    let now = Date(timeIntervalSince1970: 784_111_777)
    #expect(RetryAfter.delay("120", at: now) == .seconds(120))
    #expect(RetryAfter.delay(" 0 ", at: now) == .zero)
    #expect(RetryAfter.delay("99999999999999999999", at: now) == .seconds(86_400))
    #expect(RetryAfter.delay("Sun, 06 Nov 1994 08:50:37 GMT", at: now) == .seconds(60))
    #expect(RetryAfter.delay("Sun, 06 Nov 1994 08:49:00 GMT", at: now) == .zero)
    for text in ["", "soon", "-1", "1.5"] { #expect(RetryAfter.delay(text, at: now) == nil) }
  }

  private actor Counter {
    private var count = 0

    func next() -> Int {
      count += 1
      return count
    }
  }
}
