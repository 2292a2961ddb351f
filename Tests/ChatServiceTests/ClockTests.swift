import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLog
import EventStore
import Foundation
import Logging
import Synchronization
import Testing

/// The wall clock and the uptime of a service, both set by a test.
private final class SettableClocks: Sendable {
  private let shown: Mutex<TrustedTime.Reading>

  init(_ wall: Timestamp = Timestamp(milliseconds: 1_800_000_000_000)) {
    shown = Mutex(TrustedTime.Reading(wall: wall, uptime: 0))
  }

  var reading: TrustedTime.Reading { shown.withLock { $0 } }

  func pass(_ milliseconds: Int64, wallAhead: Int64 = 0) {
    shown.withLock {
      $0.uptime += milliseconds
      $0.wall = $0.wall.adding(milliseconds: milliseconds + wallAhead)
    }
  }
}

/// Tests the service with a real log and a clock that jumps.
@Suite("The service's clock")
struct ClockTests {
  private static let day: Int64 = 86_400_000
  private static let ahead = 400 * day
  private let room: RoomID = fixed(10)

  private func fixture(
    _ clocks: SettableClocks, _ directory: String? = nil, quotas: Quotas = Quotas()
  ) async throws -> ServiceFixture {
    let directory =
      directory ?? FileManager.default.temporaryDirectory.appendingPathComponent("hansard-\(UUID())").path
    return try await ServiceFixture(
      directory: directory, keepsDirectory: true, quotas: quotas, readings: { clocks.reading })
  }

  private func create(_ fixture: ServiceFixture) async throws -> UserID {
    let alice = try await fixture.user(1)
    _ = try await fixture.chat.performRoom(
      room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: Principal(user: alice))
    return alice
  }

  private func recordedTimes(_ fixture: ServiceFixture) throws -> [Timestamp] {
    var times: [Timestamp] = []
    var position = LogPosition.first
    while position <= fixture.log.head {
      let block = try fixture.log.block(containing: position)
      times += block.records.map(\.envelope.time)
      position = block.last.next
    }
    return times
  }

  @Test("a jump that is not trusted is in no event, and one that was trusted does not stay when it is over")
  func jump() async throws {
    let clocks = SettableClocks()
    let start = clocks.reading.wall
    let fixture = try await fixture(clocks)
    let alice = try await create(fixture)
    clocks.pass(0, wallAhead: Self.ahead)
    #expect(try await fixture.send("held", 100, to: room, by: alice).stamp.time == start)
    #expect(fixture.chat.clockStatus.heldAhead == Self.ahead)
    clocks.pass(Limits.clockJumpHeldMilliseconds)
    let trusted = try await fixture.send("trusted", 101, to: room, by: alice).stamp.time
    #expect(trusted == start.adding(milliseconds: Self.ahead + Limits.clockJumpHeldMilliseconds))
    clocks.pass(0, wallAhead: -Self.ahead)
    let back = start.adding(milliseconds: Limits.clockJumpHeldMilliseconds)
    #expect(try await fixture.send("back", 102, to: room, by: alice).stamp.time == back)
    #expect(fixture.chat.clockStatus.logAhead == Self.ahead)
    // Recorded time never decreases; the times that clients see are right, live and when read back from the disk.
    let times = try recordedTimes(fixture)
    #expect(times == times.sorted() && times.last == trusted)
    let page = try await fixture.chat.messages(of: room, for: alice, .newest, limit: 10).messages
    #expect(page.map(\.sentAt) == [start, trusted, back])
    let stored = try fixture.log.decodedEvents(after: .origin, through: fixture.log.head, limit: 100)
    #expect(stored.suffix(3).map(\.stamp.time) == [start, trusted, back])
    try fixture.close()
    try FileManager.default.removeItem(atPath: fixture.directory)
  }

  @Test("a log from the future works like any other: invites, schedules, quotas, times, and restarts")
  func future() async throws {
    let future = SettableClocks()
    let first = try await fixture(future, quotas: Quotas(messagesPerDay: 3))
    let alice = try await create(first)
    for number: UInt64 in 100..<103 { _ = try await first.send("used up", number, to: room, by: alice) }
    try first.close()

    let clocks = SettableClocks(future.reading.wall.adding(milliseconds: -Self.ahead))
    let now = clocks.reading.wall
    let second = try await fixture(clocks, first.directory, quotas: Quotas(messagesPerDay: 3))
    let chat = second.chat
    #expect(chat.clockStatus.logAhead == Self.ahead && chat.clockStatus.heldAhead == nil)
    #expect(try await second.send("now", 110, to: room, by: alice).stamp.time == now)
    _ = try await chat.createInvite(
      ChatService.NewInvite(id: fixed(11), role: .member, expiry: .at(now.adding(milliseconds: Self.day))),
      for: room, by: Principal(user: alice))
    let bob = try await second.user(2)
    _ = try await chat.acceptInvite(
      .token(chat.token(of: fixed(11), in: room)), by: Principal(user: bob), command: fixed(12))
    _ = try await chat.perform(
      chat.schedule(
        .plain("later"), as: fixed(111), to: room, at: now.adding(milliseconds: 60_000), by: Principal(user: alice)))
    try second.close()

    let third = try await fixture(clocks, first.directory, quotas: Quotas(messagesPerDay: 3))
    _ = try await third.send("the third", 112, to: room, by: alice)
    #expect(await rejection { _ = try await third.send("a fourth", 113, to: room, by: alice) } == .quotaExceeded)
    clocks.pass(Self.day)
    #expect(try await third.send("a new day", 114, to: room, by: alice).stamp.time == clocks.reading.wall)
    try third.close()
    try FileManager.default.removeItem(atPath: first.directory)
  }

  @Test("what is written while a wrong clock settles does not make a restart believe it")
  func restartWhileSettling() async throws {
    let right = SettableClocks()
    let start = right.reading.wall
    let first = try await fixture(right)
    let alice = try await create(first)
    try first.close()

    let wrong = SettableClocks(start.adding(milliseconds: Self.ahead))
    let second = try await fixture(wrong, first.directory)
    #expect(second.chat.clock.settled == start)
    _ = try await second.send("from the future", 100, to: room, by: alice)
    try second.close()

    let third = try await fixture(wrong, first.directory)
    #expect(third.chat.clock.now == wrong.reading.wall && third.chat.clock.settled == start)
    // The clock stays ahead, so it is trusted. But a restart waits again until the clock has been ahead for a day.
    wrong.pass(Limits.clockJumpHeldMilliseconds)
    #expect(third.chat.clock.settled == wrong.reading.wall)
    third.chat.clock.keepSettled()
    try third.close()
    let fourth = try await fixture(wrong, first.directory)
    #expect(fourth.chat.clock.settled == start)
    wrong.pass(Limits.clockJumpHeldMilliseconds)
    #expect(fourth.chat.clock.settled == wrong.reading.wall)
    wrong.pass(Limits.clockGapMilliseconds)
    fourth.chat.clock.keepSettled()
    try fourth.close()
    let fifth = try await fixture(wrong, first.directory)
    #expect(fifth.chat.clock.settled == wrong.reading.wall)
    try fifth.close()

    // A clock that is set back is trusted at once. If it is ahead again after that, it is not.
    try await fixture(right, first.directory).close()
    let sixth = try await fixture(wrong, first.directory)
    #expect(sixth.chat.clock.settled == start)
    try sixth.close()
    try FileManager.default.removeItem(atPath: first.directory)
  }

  @Test("uploads are collected once a clock that is ahead has settled, and not before")
  func collection() async throws {
    // Files have the times of the system clock.
    let right = SettableClocks(ChatService.now())
    let first = try await fixture(right)
    _ = try await first.upload([1], by: try await first.user(1))
    try first.close()

    let wrong = SettableClocks(right.reading.wall.adding(milliseconds: Self.ahead))
    let second = try await fixture(wrong, first.directory)
    #expect(second.chat.clock.now == wrong.reading.wall)
    #expect(try await second.chat.collectMedia() == 0)
    wrong.pass(Limits.clockJumpHeldMilliseconds)
    #expect(try await second.chat.collectMedia() == 1)
    try second.close()
    try FileManager.default.removeItem(atPath: first.directory)
  }

  @Test("a damaged file of the settled time is written again")
  func damagedFile() async throws {
    let clocks = SettableClocks()
    let first = try await fixture(clocks)
    try first.close()
    let file = first.directory + "/clock"
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(clocks.reading.wall)\n")
    try "nonsense".write(toFile: file, atomically: true, encoding: .utf8)
    let second = try await fixture(clocks, first.directory)
    #expect(second.chat.clock.settled == clocks.reading.wall)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(clocks.reading.wall)\n")
    try second.close()
    try FileManager.default.removeItem(atPath: first.directory)
  }

  @Test("an ended session stays known while its tokens may be valid, whatever the clock does")
  func endedSessions() {
    let gate = SessionGate(lifetimeMilliseconds: 900_000)
    let now = Timestamp(milliseconds: 1_800_000_000_000)
    gate.enter(fixed(1), of: fixed(2), at: now)
    // These are enough to trigger a sweep while the clock is ahead.
    for number: UInt64 in 0..<600 {
      gate.enter(fixed(100 + number), of: fixed(2), at: now.adding(milliseconds: Self.ahead))
    }
    #expect(gate.isEnded(fixed(1), of: fixed(2)))
  }
}
