import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Logging
import Synchronization
import Testing

/// Tests the scheduler with a real log and real read models. Both use the test's clock, which moves only if the test
/// moves it.
@Suite("The scheduler")
struct MessageSchedulerTests {
  private static let hour: Int64 = 3_600_000

  private let rooms: [RoomID] = (10..<16).map { fixed($0) }
  private var room: RoomID { rooms[0] }
  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private let clock = TestClock()

  private func fixture(_ directory: String? = nil, keepsDirectory: Bool = false) async throws -> ServiceFixture {
    let clock = clock
    guard let directory else { return try await ServiceFixture(keepsDirectory: keepsDirectory, clock: { clock.now }) }
    return try await ServiceFixture(directory: directory, keepsDirectory: keepsDirectory, clock: { clock.now })
  }

  private func scheduler(_ fixture: ServiceFixture) -> MessageScheduler {
    let clock = clock
    return MessageScheduler(fixture.chat, logger: logger, now: { clock.now }) {
      try await clock.sleep(milliseconds: $0)
    }
  }

  private func schedule(
    _ number: UInt64, in milliseconds: Int64, _ fixture: ServiceFixture, by user: UserID, room: RoomID? = nil
  ) async throws {
    _ = try await fixture.chat.perform(
      fixture.chat.schedule(
        .plain("text \(number)"), as: fixed(number), to: room ?? self.room,
        at: clock.now.adding(milliseconds: milliseconds), by: Principal(user: user)))
  }

  private func makeRooms(_ fixture: ServiceFixture) async throws -> UserID {
    let alice = try await fixture.user(1)
    for room in rooms {
      _ = try await fixture.chat.performRoom(
        room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: Principal(user: alice))
    }
    return alice
  }

  /// Returns when the condition is true, or after a time in which it certainly would have become true.
  private func wait(until condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try await !condition(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(2)) }
  }

  /// Waits until the scheduler sleeps for this long and has set no other alarm.
  private func waitForAlarm(in milliseconds: Int64) async throws {
    try await wait { clock.sleepers == [milliseconds] }
    try #require(clock.sleepers == [milliseconds])
  }

  /// Waits until this many messages have been sent, and returns the IDs of all sent messages in log order.
  private func sent(_ fixture: ServiceFixture, for user: UserID, count: Int) async throws -> [MessageID] {
    var found: [(position: LogPosition, id: MessageID)] = []
    try await wait {
      found = []
      for room in rooms {
        let page = try await fixture.chat.messages(of: room, for: user, .newest, limit: 200)
        found += page.messages.map { ($0.position, $0.id) }
      }
      return found.count >= count
    }
    return found.sorted { $0.position < $1.position }.map(\.id)
  }

  @Test("a message that is scheduled while it sleeps wakes it, and it sends several batches in order")
  func sends() async throws {
    let fixture = try await fixture()
    let alice = try await makeRooms(fixture)
    let scheduler = scheduler(fixture)
    let numbers = Array(1000..<UInt64(1000 + SchedulePlan.portion + 20))
    for (index, number) in numbers.enumerated() {
      try await schedule(number, in: 30_000, fixture, by: alice, room: rooms[index % rooms.count])
    }
    try await schedule(200, in: 60_000, fixture, by: alice)
    try await waitForAlarm(in: 30_000)
    clock.advance(milliseconds: 29_999)
    #expect(try await sent(fixture, for: alice, count: 0).isEmpty)
    clock.advance(milliseconds: 1)
    #expect(try await sent(fixture, for: alice, count: numbers.count) == numbers.map { fixed($0) })
    await scheduler.stop()
    #expect(try await fixture.chat.scheduledMessages(of: alice, in: room).messages.map(\.id) == [fixed(200)])
    try fixture.close()
  }

  @Test("however many are scheduled, it sets one alarm")
  func oneAlarm() async throws {
    let fixture = try await fixture()
    let alice = try await makeRooms(fixture)
    let scheduler = scheduler(fixture)
    // Each message is due before the one scheduled before it, which had set the alarm. The last ones are sent.
    for number: UInt64 in 0..<60 {
      try await schedule(100 + number, in: Int64(59_000 - number * 900), fixture, by: alice)
    }
    for count in 1...10 {
      let due: Int64 = count == 1 ? 5_900 : 900
      try await waitForAlarm(in: due)
      clock.advance(milliseconds: due)
      #expect(try await sent(fixture, for: alice, count: count).count == count)
    }
    try await waitForAlarm(in: 900)
    await scheduler.stop()
    #expect(clock.sleepers == [])
    try fixture.close()
  }

  @Test("after a restart it sends what was due meanwhile, and nothing twice")
  func catchesUp() async throws {
    let first = try await fixture(keepsDirectory: true)
    let alice = try await makeRooms(first)
    for number: UInt64 in 100..<105 { try await schedule(number, in: 1000, first, by: alice) }
    try first.close()
    clock.advance(milliseconds: 1000)
    let second = try await fixture(first.directory, keepsDirectory: true)
    #expect(try await second.chat.messages(of: room, for: alice, .newest, limit: 200).messages.isEmpty)
    let scheduler = scheduler(second)
    #expect(try await sent(second, for: alice, count: 5) == (100..<105).map { fixed($0) })
    await scheduler.stop()
    try second.close()
    let third = try await fixture(first.directory)
    let again = self.scheduler(third)
    // This message is sent after everything that the scheduler would have sent again.
    try await schedule(105, in: 1, third, by: alice)
    try await waitForAlarm(in: 1)
    clock.advance(milliseconds: 1)
    #expect(try await sent(third, for: alice, count: 6) == (100..<106).map { fixed($0) })
    await again.stop()
    try third.close()
  }

  @Test("while its clock is ahead of the log's it sends nothing, and does not spin")
  func clockAhead() async throws {
    let fixture = try await fixture()
    let alice = try await makeRooms(fixture)
    try await schedule(100, in: Self.hour, fixture, by: alice)
    let looks = Atomic(0)
    let clock = clock
    let scheduler = MessageScheduler(
      fixture.chat, logger: logger,
      now: {
        looks.add(1, ordering: .relaxed)
        return clock.now.adding(milliseconds: 2 * Self.hour)
      }, sleep: { try await clock.sleep(milliseconds: $0) })
    for milliseconds: Int64 in [1_000, 2_000, 4_000] {
      try await waitForAlarm(in: milliseconds)
      clock.advance(milliseconds: milliseconds)
    }
    try await waitForAlarm(in: 8_000)
    await scheduler.stop()
    #expect(looks.load(ordering: .relaxed) < 60)
    #expect(try await fixture.chat.scheduledMessages(of: alice, in: room).messages.count == 1)
    try fixture.close()
  }

  @Test("a clock that goes back delays nothing beyond its time")
  func clockBack() async throws {
    let fixture = try await fixture()
    let alice = try await makeRooms(fixture)
    let scheduler = scheduler(fixture)
    try await schedule(100, in: 50_000, fixture, by: alice)
    try await waitForAlarm(in: 50_000)
    let before = clock.now
    clock.set(to: before.adding(milliseconds: -Self.hour))
    // The log's time does not go back, and the time of a scheduled message is compared with the log's time.
    _ = try await fixture.chat.perform(
      fixture.chat.schedule(
        .plain("text"), as: fixed(101), to: room, at: before.adding(milliseconds: 10), by: Principal(user: alice)))
    // The scheduler looks at the clock once a minute.
    for _ in 0..<60 {
      try await waitForAlarm(in: 60_000)
      clock.advance(milliseconds: 60_000)
    }
    for milliseconds: Int64 in [10, 49_990] {
      try await waitForAlarm(in: milliseconds)
      clock.advance(milliseconds: milliseconds)
    }
    #expect(try await sent(fixture, for: alice, count: 2) == [fixed(101), fixed(100)])
    await scheduler.stop()
    try fixture.close()
  }
}
