import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Foundation
import Logging
import Testing

@Suite("Quotas")
struct QuotaTests {
  private let room: RoomID = fixed(10)

  private func fixture(_ directory: String? = nil, messages: UInt64?) async throws -> ServiceFixture {
    let directory =
      directory ?? FileManager.default.temporaryDirectory.appendingPathComponent("hansard-\(UUID())").path
    return try await ServiceFixture(
      directory: directory, keepsDirectory: true, quotas: Quotas(messagesPerDay: messages))
  }

  private func create(_ fixture: ServiceFixture) async throws -> UserID {
    let alice = try await fixture.user(1)
    _ = try await fixture.chat.performRoom(
      room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: Principal(user: alice))
    return alice
  }

  private func isRefused(_ fixture: ServiceFixture, _ number: UInt64, by user: UserID) async throws -> Bool {
    do {
      _ = try await fixture.send("x", number, to: room, by: user)
      return false
    } catch ServiceError.rejected(.quotaExceeded) {
      return true
    }
  }

  /// Waits for the next day if it begins in less than a minute, so that a test does not span two days.
  private func awayFromMidnight() async throws {
    let left = UsageDay(of: ChatService.now()).secondsLeft(at: ChatService.now())
    if left < 60 { try await Task.sleep(for: .seconds(left)) }
  }

  @Test("the limit holds to the message, also over restarts with and without the read models; a retry is free")
  func restarts() async throws {
    try await awayFromMidnight()
    let first = try await fixture(messages: 5)
    let alice = try await create(first)
    for number: UInt64 in 100..<103 { #expect(try await !isRefused(first, number, by: alice)) }
    #expect(try await !isRefused(first, 100, by: alice))
    try first.close()

    let second = try await fixture(first.directory, messages: 5)
    #expect(try await !isRefused(second, 103, by: alice))
    try second.close()

    try FileManager.default.removeItem(atPath: first.directory + "/views")
    let third = try await fixture(first.directory, messages: 5)
    #expect(try await !isRefused(third, 104, by: alice))
    #expect(try await isRefused(third, 105, by: alice))
    // Repeated requests for messages that were sent still succeed.
    #expect(try await !isRefused(third, 104, by: alice))
    // Messages that a service sends as Alice do not count and are not limited.
    let asService = Principal(user: alice, service: ServiceFixture.service)
    _ = try await third.chat.perform(try third.chat.send(.plain("x"), as: fixed(106), to: room, by: asService))
    #expect(try await isRefused(third, 107, by: alice))
    try third.close()

    let fourth = try await fixture(first.directory, messages: 6)
    #expect(try await !isRefused(fourth, 108, by: alice))
    #expect(try await isRefused(fourth, 109, by: alice))
    try fourth.close()
    let unlimited = try await fixture(first.directory, messages: nil)
    #expect(try await !isRefused(unlimited, 110, by: alice))
    try unlimited.close()
    try FileManager.default.removeItem(atPath: first.directory)
  }

  @Test("of concurrent requests as many succeed as the quota allows, and a retry is counted once")
  func atOnce() async throws {
    let clock = TestClock()
    let fixture = try await ServiceFixture(quotas: Quotas(roomsPerDay: 5), clock: { clock.now })
    let alice = try await fixture.user(1)
    @Sendable func isMade(_ number: UInt64) async throws -> Bool {
      let creation = RoomCreation(kind: .group, name: "tea", creator: alice)
      do {
        _ = try await fixture.chat.performRoom(fixed(number), .lifecycle(.create(creation)), by: Principal(user: alice))
        return true
      } catch ServiceError.rejected(.quotaExceeded) {
        return false
      }
    }
    let made = try await withThrowingTaskGroup(of: (number: UInt64, isMade: Bool).self) { group in
      // Each room is requested three times.
      for number: UInt64 in 0..<60 { group.addTask { (100 + number / 3, try await isMade(100 + number / 3)) } }
      return try await group.reduce(into: Set<UInt64>()) { made, result in
        if result.isMade { made.insert(result.number) }
      }
    }
    #expect(made.count == 5)
    for number in made { #expect(try await isMade(number)) }
    #expect(try await !isMade(999))
    clock.advance(milliseconds: 86_400_000)
    #expect(try await isMade(999))
    try fixture.close()
  }

  @Test("a workspace and its rooms count; what a service creates counts if the operator enables it")
  func workspaces() async throws {
    let clock = TestClock()
    for countsServices in [false, true] {
      var quotas = Quotas(roomsPerDay: 1, workspacesPerDay: 1)
      quotas.countsServices = countsServices
      let fixture = try await ServiceFixture(quotas: quotas, clock: { clock.now })
      let alice = try await fixture.user(1)
      let (asAlice, asService) = (Principal(user: alice), Principal(user: alice, service: ServiceFixture.service))
      func workspace(_ number: UInt64, _ principal: Principal) async -> Rejection? {
        let creation = WorkspaceCreation(name: "office", creator: alice)
        return await rejection {
          _ = try await fixture.chat.performWorkspace(fixed(number), .lifecycle(.create(creation)), by: principal)
        }
      }
      #expect(await workspace(50, asService) == nil)
      #expect(await workspace(51, asAlice) == (countsServices ? .quotaExceeded : nil))
      #expect(await workspace(52, asAlice) == .quotaExceeded)
      #expect(await workspace(53, asService) == (countsServices ? .quotaExceeded : nil))
      try fixture.close()
    }
  }

  @Test("a message that is scheduled counts when it is scheduled, and its sending does not", arguments: [false, true])
  func scheduling(countsServices: Bool) async throws {
    let clock = TestClock()
    var quotas = Quotas(messagesPerDay: 2)
    quotas.countsServices = countsServices
    let fixture = try await ServiceFixture(quotas: quotas, clock: { clock.now })
    let alice = try await create(fixture)
    func schedule(_ number: UInt64) async throws {
      _ = try await fixture.chat.perform(
        fixture.chat.schedule(
          .plain("x"), as: fixed(number), to: room, at: clock.now.adding(milliseconds: 60_000),
          by: Principal(user: alice)))
    }
    try await schedule(100)
    try await schedule(101)
    // A repeat is free.
    try await schedule(101)
    #expect(await rejection { try await schedule(102) } == .quotaExceeded)
    #expect(try await isRefused(fixture, 103, by: alice))
    let scheduler = MessageScheduler(
      fixture.chat, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { clock.now },
      sleep: { try await clock.sleep(milliseconds: $0) })
    let deadline = ContinuousClock.now + .seconds(120)
    while clock.sleepers != [60_000], ContinuousClock.now < deadline { await Task.yield() }
    clock.advance(milliseconds: 60_000)
    var sent = 0
    while sent < 2, ContinuousClock.now < deadline {
      sent = try await fixture.chat.messages(of: room, for: alice, .newest, limit: 10).messages.count
    }
    await scheduler.stop()
    #expect(sent == 2)
    // On the next day the quota is unused again. The scheduled messages that the server sent count for no user.
    clock.advance(milliseconds: 86_400_000)
    #expect(try await !isRefused(fixture, 104, by: alice))
    try await schedule(105)
    #expect(try await isRefused(fixture, 106, by: alice))
    try fixture.close()
  }
}

@Suite("Passwords")
struct PasswordRulesTests {
  private func flaw(
    _ password: String, email: String? = "anna.lee@example.org", nickname: String = "Anna the First"
  ) -> InvalidInput? {
    do {
      try PasswordRules.check(password, email: email, nickname: nickname)
      return nil
    } catch ServiceError.invalid(let input) {
      return input
    } catch {
      return nil
    }
  }

  @Test(
    "those that are guessed first are refused, in any case",
    arguments: ["password", "PassWord", "12345678", "qwertyuiop", "Iloveyou1", "1q2w3e4r", "P@ssw0rd", "00000000"])
  func common(password: String) {
    #expect(flaw(password) == .passwordTooCommon)
  }

  @Test(
    "the account's own names are refused",
    arguments: ["anna.lee", "ANNA.LEE", "anna.lee@example.org", "anna the first"])
  func own(password: String) {
    #expect(flaw(password) == .passwordTooCommon)
    #expect(flaw(password, email: nil, nickname: "Ben") == nil)
  }

  @Test(
    "other passwords are accepted",
    arguments: ["correct horse", "password of mine", "annalee42", "qwertyuiop and more"])
  func taken(password: String) {
    #expect(flaw(password) == nil)
  }

  @Test("the length is checked first")
  func length() {
    #expect(flaw("1234567") == .passwordTooShort)
    #expect(flaw(String(repeating: "x", count: Limits.passwordBytes + 1)) == .passwordTooLong)
    #expect(flaw(String(repeating: "xy", count: Limits.passwordBytes / 2)) == nil)
  }
}
