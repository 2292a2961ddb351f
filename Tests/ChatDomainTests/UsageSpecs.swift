import ChatDomain
import ChatPrimitives
import Testing

@Suite("Usage of a day")
struct UsageSpecs {
  private let anna = UserID(UUIDBytes(high: 1, low: 1))
  private let ben = UserID(UUIDBytes(high: 1, low: 2))

  private func time(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

  @Test(
    "a day begins and ends at midnight UTC",
    arguments: [
      ("1970-01-01T00:00:00Z", 0, 86_400), ("1970-01-01T23:59:59.999Z", 0, 1), ("1970-01-02T00:00:00Z", 1, 86_400),
      ("1969-12-31T23:59:59.999Z", -1, 1), ("1969-12-31T00:00:00Z", -1, 86_400),
      ("2026-07-05T12:00:00.001Z", 20_639, 43_200),
    ])
  func days(text: String, number: Int64, left: Int) throws {
    let day = UsageDay(of: try time(text))
    #expect(day.number == number)
    #expect(day.secondsLeft(at: try time(text)) == left)
  }

  @Test("as much as the limit is allowed, and one more is not", arguments: [1, 2, 50])
  func limit(messages: UInt64) throws {
    let quotas = Quotas(messagesPerDay: messages)
    let now = try time("2026-07-05T12:00:00Z")
    var usage = DailyUsage()
    for _ in 0..<messages {
      try usage.check(Usage(messages: 1), by: anna, at: now, under: quotas)
      usage.charge(Usage(messages: 1), to: anna, at: now)
    }
    #expect(throws: Rejection.quotaExceeded) {
      try usage.check(Usage(messages: 1), by: anna, at: now, under: quotas)
    }
    try usage.check(Usage(messages: 1), by: ben, at: now, under: quotas)
    try usage.check(Usage(messages: 1), by: anna, at: try time("2026-07-06T00:00:00Z"), under: quotas)
  }

  @Test("bytes of media are held against their own limit")
  func media() throws {
    let quotas = Quotas(messagesPerDay: 1, mediaBytesPerDay: 1_000)
    let now = try time("2026-07-05T12:00:00Z")
    var usage = DailyUsage()
    usage.charge(Usage(mediaBytes: 999), to: anna, at: now)
    try usage.check(Usage(mediaBytes: 1), by: anna, at: now, under: quotas)
    #expect(throws: Rejection.quotaExceeded) {
      try usage.check(Usage(mediaBytes: 2), by: anna, at: now, under: quotas)
    }
    #expect(throws: Rejection.quotaExceeded) {
      try usage.check(Usage(mediaBytes: .max), by: anna, at: now, under: quotas)
    }
    // The bytes are used up, the message is not.
    usage.charge(Usage(mediaBytes: 1), to: anna, at: now)
    try usage.check(Usage(messages: 1), by: anna, at: now, under: quotas)
  }

  @Test("another day forgets the one that was counted, also one before it: then the clock had been ahead")
  func newDay() throws {
    var usage = DailyUsage()
    usage.charge(Usage(messages: 3), to: anna, at: try time("2026-07-05T23:00:00Z"))
    usage.charge(Usage(messages: 1), to: ben, at: try time("2026-07-06T01:00:00Z"))
    #expect(usage.users == [ben: Usage(messages: 1)])
    #expect(usage.used(by: anna, on: usage.day) == Usage())
    let before = try time("2026-07-05T23:59:00Z")
    usage.charge(Usage(messages: 9), to: ben, at: before)
    #expect(usage.users == [ben: Usage(messages: 9)])
    #expect(usage.used(by: ben, on: UsageDay(of: before)) == Usage(messages: 9))
  }

  @Test("what a service does in a user's name is the operator's own; else what is sent or scheduled counts")
  func services() {
    let message = MessageID(UUIDBytes(high: 3, low: 3))
    let later = ScheduledMessage(author: anna, content: .plain("x"), sendAt: Timestamp(milliseconds: 1))
    for event: RoomEvent in [
      .messageSent(message, author: anna, thread: nil, .plain("x")), .messageScheduled(message, later),
    ] {
      expectCounted(.room(RoomID(UUIDBytes(high: 2, low: 2)), event))
    }
    for event: RoomEvent in [
      .scheduledMessageChanged(message, ScheduledMessageEdit(text: "y")), .scheduledMessageCancelled(message),
      .scheduledMessageFailed(message, .silenced),
    ] {
      #expect(Usage(of: .room(RoomID(UUIDBytes(high: 2, low: 2)), event)).isNothing)
    }
  }

  private func expectCounted(_ event: ChatEvent) {
    func recorded(by service: ServiceID?) -> RecordedEvent {
      RecordedEvent(
        stamp: Stamp(position: .first, time: Timestamp(milliseconds: 0)), version: .none, actor: anna, service: service,
        device: nil, command: nil, originalTime: nil, event: event)
    }
    #expect(Usage(of: recorded(by: nil)) == Usage(messages: 1))
    #expect(Usage(of: recorded(by: ServiceID(UUIDBytes(high: 9, low: 9)))).isNothing)
  }
}
