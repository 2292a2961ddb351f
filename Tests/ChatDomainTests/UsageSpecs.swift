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

  @Test("bytes of media have their own limit")
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
    // All bytes are used up, but no message is.
    usage.charge(Usage(mediaBytes: 1), to: anna, at: now)
    try usage.check(Usage(messages: 1), by: anna, at: now, under: quotas)
  }

  @Test("a different day resets the counts, even an earlier day after the clock was ahead")
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

  @Test("sent and scheduled messages count, except those from a service that acts as a user")
  func services() {
    let message = MessageID(UUIDBytes(high: 3, low: 3))
    let later = ScheduledMessage(author: anna, content: .plain("x"), sendAt: Timestamp(milliseconds: 1))
    for event: RoomEvent in [
      .messages(.sent(message, author: anna, thread: nil, .plain("x"))), .scheduling(.scheduled(message, later)),
    ] {
      expectCounted(.room(RoomID(UUIDBytes(high: 2, low: 2)), event))
    }
    for event: RoomEvent in [
      .scheduling(.changed(message, ScheduledMessageEdit(text: "y"))), .scheduling(.cancelled(message)),
      .scheduling(.failed(message, .silenced)),
    ] {
      #expect(Usage(of: .room(RoomID(UUIDBytes(high: 2, low: 2)), event)).messages == 0)
    }
  }

  @Test("every event counts, with its bytes; some count as what they make")
  func kinds() {
    func usage(_ event: RoomEvent) -> Usage { Usage(of: .room(RoomID(UUIDBytes(high: 2, low: 2)), event)) }
    func usage(_ event: WorkspaceEvent) -> Usage {
      Usage(of: .workspace(WorkspaceID(UUIDBytes(high: 2, low: 2)), event))
    }
    let record = ChatEvent.chargedBytesOfRecord
    let message = MessageID(UUIDBytes(high: 3, low: 3))
    let later = ScheduledMessage(author: anna, content: .plain("four"), sendAt: Timestamp(milliseconds: 1))
    #expect(usage(.lifecycle(.archived)) == Usage(events: 1, bytes: record))
    #expect(
      usage(.messages(.sent(message, author: anna, thread: nil, .plain("four"))))
        == Usage(messages: 1, events: 1, bytes: record + 4))
    #expect(
      usage(.scheduling(.scheduled(message, later)))
        == Usage(messages: 1, scheduledBytes: record + 4, events: 1, bytes: record + 4))
    #expect(
      usage(.scheduling(.changed(message, ScheduledMessageEdit(text: "four"))))
        == Usage(scheduledBytes: record + 4, events: 1, bytes: record + 4))
    let reported = ReportedMessage(
      id: message, author: ben, sentAt: Timestamp(milliseconds: 1), content: .plain("four"))
    let report = Report(subject: .message(reported), reason: .spam, comment: "six...")
    let id = ReportID(UUIDBytes(high: 4, low: 4))
    #expect(usage(.reports(.filed(id, reporter: anna, report))) == Usage(events: 1, bytes: record + 10))
    #expect(usage(.reports(.filed(id, reporter: anna, nil))) == Usage(events: 1, bytes: record))
    #expect(
      usage(.reports(.resolved(id, ReportResolution(outcome: .other, note: "four"))))
        == Usage(events: 1, bytes: record + 4))
    #expect(
      usage(RoomEvent.lifecycle(.created(RoomCreation(kind: .group, name: "four", creator: anna))))
        == Usage(rooms: 1, events: 1, bytes: record + 4))
    #expect(
      usage(WorkspaceEvent.lifecycle(.created(WorkspaceCreation(name: "four", creator: anna))))
        == Usage(workspaces: 1, events: 1, bytes: record + 4))
    #expect(usage(.invitations(.invited(ben, role: .member))) == Usage(invites: 1, events: 1, bytes: record))
  }

  @Test("a user without events left can still end as many things again, and every session")
  func upkeep() throws {
    let room = RoomID(UUIDBytes(high: 2, low: 2))
    let quotas = Quotas(eventsPerDay: 2, bytesPerDay: 2_000)
    let now = try time("2026-07-05T12:00:00Z")
    var usage = DailyUsage()
    func isAllowed(_ events: ChatEvent...) -> Bool {
      let wanted = events.reduce(Usage()) { $0 + Usage(of: $1) }
      do throws(Rejection) {
        try usage.check(wanted, for: QuotaPurpose(of: events, under: nil), by: anna, at: now, under: quotas)
        usage.charge(wanted, to: anna, at: now)
        return true
      } catch {
        return false
      }
    }
    let rename = ChatEvent.room(room, .lifecycle(.edited(RoomEdit(name: "x"))))
    let leave = ChatEvent.room(room, .members(.left(anna)))
    let logout = ChatEvent.user(anna, .sessions(.ended(SessionID(UUIDBytes(high: 4, low: 4)), .loggedOut)))
    #expect(!isAllowed(rename, rename, rename))
    #expect(isAllowed(rename) && isAllowed(rename) && !isAllowed(rename))
    #expect(!isAllowed(leave, rename))
    #expect(isAllowed(leave) && isAllowed(leave) && !isAllowed(leave))
    #expect(!isAllowed(logout, leave) && isAllowed(logout) && isAllowed(logout, logout))
    // The event ends nothing, so the quota for upkeep limits how many there can be.
    let key = CommandID(UUIDBytes(high: 6, low: 6))
    let absent = ChatEvent.user(anna, .sessions(.ended(UserDecider.absentSession(for: key), .allLoggedOut)))
    #expect(QuotaPurpose(of: [absent], under: key) == .upkeep)
    #expect(QuotaPurpose(of: [logout], under: key) == .endingSessions)
    // The device loses its push tokens as a result of the logout. Without that first event, it would be an ordinary
    // change.
    func update(_ tokens: [PushToken]) -> ChatEvent {
      let description = DeviceDescription(name: nil, type: nil, osVersion: nil, tokens: tokens)
      return .user(anna, .devices(.updated(DeviceID(UUIDBytes(high: 5, low: 5)), description)))
    }
    #expect(isAllowed(logout, update([])) && !isAllowed(update([])))
    #expect(!isAllowed(logout, update([PushToken(provider: .apns, token: "x")])))
  }

  private func expectCounted(_ event: ChatEvent) {
    func recorded(by service: ServiceID?) -> RecordedEvent {
      RecordedEvent(
        stamp: Stamp(position: .first, time: Timestamp(milliseconds: 0)), version: .none, actor: anna, service: service,
        device: nil, command: nil, originalTime: nil, event: event)
    }
    #expect(Usage(of: recorded(by: nil)).messages == 1)
    #expect(Usage(of: recorded(by: ServiceID(UUIDBytes(high: 9, low: 9)))).isNothing)
  }
}
