import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import ProcessorTime
import Synchronization
import Testing

@testable import ChatServer

private let second: UInt64 = 1_000_000_000

@Suite("The memory of login attempts")
struct AttemptLedgerSpecs {
  private let policy = AttemptPolicy(free: 3, longestDelay: 10, memory: 60)

  @Test("free attempts cost nothing; each later one doubles the wait, up to the longest")
  func doubles() {
    var ledger = AttemptLedger()
    var now: UInt64 = 100 * second
    for _ in 0..<3 { #expect(ledger.begin(at: now, under: policy) == nil) }
    for wait: UInt64 in [1, 2, 4, 8, 10, 10] {
      #expect(ledger.begin(at: now, under: policy) == nil)
      #expect(ledger.begin(at: now, under: policy) == wait * second)
      now += wait * second - 1
      #expect(ledger.begin(at: now, under: policy) == 1)
      now += 1
    }
  }

  @Test("a refused attempt is not counted")
  func refusedIsFree() {
    var ledger = AttemptLedger()
    for _ in 0..<4 { _ = ledger.begin(at: 0, under: policy) }
    for _ in 0..<50 { #expect(ledger.begin(at: 0, under: policy) == second) }
    #expect(ledger.begin(at: second, under: policy) == nil)
    #expect(ledger.begin(at: second, under: policy) == 2 * second)
  }

  @Test("failures are forgotten after their time, and not before")
  func forgets() {
    var ledger = AttemptLedger()
    for _ in 0..<3 { _ = ledger.begin(at: 0, under: policy) }
    var early = ledger
    #expect(early.begin(at: 60 * second - 1, under: policy) == nil)
    #expect(early.begin(at: 60 * second - 1, under: policy) == second)
    for _ in 0..<3 { #expect(ledger.begin(at: 60 * second, under: policy) == nil) }
    #expect(ledger.begin(at: 60 * second, under: policy) == nil)
    #expect(ledger.begin(at: 60 * second, under: policy) == second)
  }

  @Test("so many failures that doubling would not fit wait the longest")
  func many() {
    var ledger = AttemptLedger()
    var now: UInt64 = 0
    for _ in 0..<200 {
      while let wait = ledger.begin(at: now, under: policy) {
        #expect(wait <= 10 * second)
        now += wait
      }
    }
  }
}

@Suite("The login throttle")
struct LoginThrottleSpecs {
  private struct Slow: Error {}

  /// A clock that moves only if a test moves it.
  private final class StillClock: Sendable {
    let now = Atomic<UInt64>(0)
  }

  private let clock = StillClock()

  private func throttle(account: Int = 2, address: Int = 100) -> LoginThrottle {
    var settings = LoginSettings()
    settings.account.free = account
    settings.address.free = address
    return LoginThrottle(settings) { [clock] in clock.now.load(ordering: .relaxed) }
  }

  private func fail(_ throttle: LoginThrottle, _ email: String, _ address: NetworkAddress? = nil) async -> String {
    do {
      try await throttle.attempt(.unknown(email), from: address) { throw ServiceError.rejected(.credentialsRejected) }
      return "passed"
    } catch Refusal.tooManyAttempts(let seconds) {
      return "wait \(seconds)"
    } catch ServiceError.rejected(.credentialsRejected) {
      return "wrong"
    } catch {
      return "\(error)"
    }
  }

  @Test("an account is slowed from wherever it is tried, in any case of its name")
  func account() async {
    let throttle = throttle()
    for email in ["a@x.org", "A@x.org", "a@X.org"] { #expect(await fail(throttle, email) == "wrong") }
    #expect(await fail(throttle, "a@x.org") == "wait 1")
    #expect(await fail(throttle, "b@x.org") == "wrong")
  }

  @Test("a name that is longer than any e-mail address is not normalised")
  func longName() {
    // Each pair of marks is in the wrong order, so that normalising has to sort them all.
    let name = "e" + String(repeating: "\u{315}\u{300}", count: 4_000)
    let normalising = ProcessorTime.spent { _ = EmailForm.compared(name) }
    var ledgers = LoginLedgers(limit: 1)
    let counting = ProcessorTime.spent {
      _ = ledgers.begin(.unknown(name), from: nil, guesses: 1, at: 0, under: LoginSettings().account)
    }
    #expect(counting * 10 < normalising)
  }

  @Test("the password is not checked during the wait, right or wrong")
  func notLookedAt() async throws {
    let throttle = throttle()
    for _ in 0..<3 { _ = await fail(throttle, "a@x.org") }
    await #expect(throws: Refusal.tooManyAttempts(retryAfterSeconds: 1)) {
      try await throttle.attempt(.unknown("a@x.org"), from: nil) { Issue.record("looked at") }
    }
    clock.now.store(second, ordering: .relaxed)
    try await throttle.attempt(.unknown("a@x.org"), from: nil) {}
  }

  @Test("the wait begins when the password was found wrong, however long that took")
  func slowHashing() async {
    let throttle = throttle()
    for _ in 0..<2 { #expect(await fail(throttle, "a") == "wrong") }
    await #expect(throws: ServiceError.self) {
      try await throttle.attempt(.unknown("a"), from: nil) {
        clock.now.store(100 * second, ordering: .relaxed)
        throw ServiceError.rejected(.credentialsRejected)
      }
    }
    #expect(await fail(throttle, "a") == "wait 1")
  }

  @Test("success forgets the account, but not the address")
  func success() async throws {
    let throttle = throttle(account: 2, address: 3)
    let here = NetworkAddress("192.0.2.1")
    for _ in 0..<2 { #expect(await fail(throttle, "a@x.org", here) == "wrong") }
    try await throttle.attempt(.unknown("a@x.org"), from: here) {}
    for _ in 0..<2 { #expect(await fail(throttle, "a@x.org", here) == "wrong") }
    #expect(await fail(throttle, "other@x.org", here) == "wait 1")
    #expect(await fail(throttle, "other@x.org", NetworkAddress("192.0.2.2")) == "wrong")
  }

  @Test("a refusal of the address costs the account nothing")
  func addressFirst() async {
    let throttle = throttle(account: 1, address: 1)
    let (here, there) = (NetworkAddress("192.0.2.1"), NetworkAddress("192.0.2.2"))
    for name in ["b", "c"] { #expect(await fail(throttle, name, here) == "wrong") }
    for _ in 0..<9 { #expect(await fail(throttle, "a", here) == "wait 1") }
    #expect(await fail(throttle, "a", there) == "wrong")
  }

  @Test("another rejection means that the password was right; a failure of the machine means nothing")
  func otherErrors() async {
    let throttle = throttle()
    for _ in 0..<9 {
      await #expect(throws: ServiceError.self) {
        try await throttle.attempt(.unknown("a"), from: nil) { throw ServiceError.rejected(.sessionRefreshed) }
      }
      await #expect(throws: Slow.self) { try await throttle.attempt(.unknown("b"), from: nil) { throw Slow() } }
    }
    for name in ["a", "b"] { #expect(await fail(throttle, name) == "wrong") }
  }

  @Test("an attempt that tries two passwords counts as two")
  func guesses() async throws {
    let throttle = throttle(account: 4, address: 100)
    let user = LoginAttempt.account(UserID(UUIDBytes(high: 1, low: 1)))
    for _ in 0..<2 {
      await #expect(throws: ServiceError.self) {
        try await throttle.attempt(user, from: nil, guesses: 2) { throw ServiceError.rejected(.passwordWrong) }
      }
    }
    // An attempt that is withdrawn is withdrawn with all its guesses.
    await #expect(throws: Slow.self) { try await throttle.attempt(user, from: nil, guesses: 2) { throw Slow() } }
    await #expect(throws: ServiceError.self) {
      try await throttle.attempt(user, from: nil) { throw ServiceError.rejected(.credentialsRejected) }
    }
    await #expect(throws: Refusal.tooManyAttempts(retryAfterSeconds: 1)) {
      try await throttle.attempt(user, from: nil) {}
    }
  }

  // MARK: Known addresses, devices and sessions

  private static let user = UserID(UUIDBytes(high: 1, low: 1))
  private static let (home, away) = (NetworkAddress("192.0.2.1"), NetworkAddress("203.0.113.1"))
  private static let phone = LoginAttempt.Evidence.device(DeviceID(UUIDBytes(high: 2, low: 2)))

  /// The result of a login by the owner, who has the right password, or by a stranger, who does not.
  private func login(
    _ throttle: LoginThrottle, _ evidence: LoginAttempt.Evidence? = nil, from address: NetworkAddress?,
    right: Bool = true
  ) async -> String {
    await end {
      try await throttle.attempt(.account(Self.user, evidence), from: address) {
        if !right { throw ServiceError.rejected(.credentialsRejected) }
      }
    }
  }

  private func repeatRegistration(_ throttle: LoginThrottle, right: Bool) async -> String {
    await end {
      try await throttle.attempt(.repeatedRegistration(Self.user), from: Self.away) {
        if !right { throw ServiceError.rejected(.idInUse) }
      }
    }
  }

  private func end(_ body: () async throws -> Void) async -> String {
    do {
      try await body()
      return "passed"
    } catch Refusal.tooManyAttempts(let seconds) {
      return "wait \(seconds)"
    } catch {
      return "wrong"
    }
  }

  @Test("strangers do not lock out a known address, a known device or a session")
  func strangers() async {
    let throttle = throttle()
    #expect(await login(throttle, from: Self.home) == "passed")
    for _ in 0..<3 { #expect(await login(throttle, from: Self.away, right: false) == "wrong") }
    #expect(await login(throttle, from: Self.away) == "wait 1")
    #expect(await login(throttle, from: Self.home) == "passed")
    for evidence in [Self.phone, .session(SessionID(UUIDBytes(high: 3, low: 3))), .session(nil)] {
      #expect(await login(throttle, evidence, from: NetworkAddress("198.51.100.9")) == "passed")
    }
    // The owner's logins from there do not clear the strangers' failures.
    #expect(await login(throttle, from: Self.away) == "wait 1")
  }

  @Test("each of these is slowed by its own failures, and a known address by those of all who share it")
  func ownFailures() async {
    for evidence in [nil, Self.phone, .session(nil)] as [LoginAttempt.Evidence?] {
      let throttle = throttle()
      #expect(await login(throttle, from: Self.home) == "passed")
      let address = evidence == nil ? Self.home : Self.away
      for _ in 0..<3 { #expect(await login(throttle, evidence, from: address, right: false) == "wrong") }
      #expect(await login(throttle, evidence, from: address) == "wait 1")
      #expect(await login(throttle, from: NetworkAddress("198.51.100.9"), right: false) == "wrong")
    }
  }

  @Test("a known device at a known address waits only if both limits are reached, and both count it")
  func twoLedgers() async {
    let throttle = throttle()
    #expect(await login(throttle, from: Self.home) == "passed")
    for _ in 0..<3 { #expect(await login(throttle, from: Self.home, right: false) == "wrong") }
    for _ in 0..<3 { #expect(await login(throttle, Self.phone, from: Self.home, right: false) == "wrong") }
    #expect(await login(throttle, Self.phone, from: Self.home) == "wait 1")
    #expect(await login(throttle, Self.phone, from: Self.away) == "wait 1")
  }

  @Test("a slowed address does not lock out known devices and sessions")
  func slowedAddress() async {
    let throttle = throttle(address: 1)
    #expect(await login(throttle, from: Self.home) == "passed")
    for name in ["b", "c"] { #expect(await fail(throttle, name, Self.home) == "wrong") }
    #expect(await login(throttle, from: Self.home) == "wait 1")
    for evidence in [Self.phone, .session(nil)] {
      #expect(await login(throttle, evidence, from: Self.home) == "passed")
    }
  }

  @Test("of an account's networks the latest are known", arguments: [7, 8, 9])
  func networks(count: Int) async {
    let throttle = throttle(account: 0)
    for number in 1...count {
      #expect(await login(throttle, from: NetworkAddress("198.51.100.\(number)")) == "passed")
    }
    #expect(await login(throttle, from: Self.away, right: false) == "wrong")
    let isKnown = count <= Limits.knownNetworksPerAccount
    #expect(await login(throttle, from: NetworkAddress("198.51.100.1")) == (isKnown ? "passed" : "wait 1"))
    #expect(await login(throttle, from: NetworkAddress("198.51.100.\(count)")) == "passed")
  }

  @Test("a repeated registration fails like a login, and a right password in it clears no failures")
  func registrations() async {
    let throttle = throttle()
    #expect(await repeatRegistration(throttle, right: false) == "wrong")
    #expect(await login(throttle, from: Self.away, right: false) == "wrong")
    for _ in 0..<9 { #expect(await repeatRegistration(throttle, right: true) == "passed") }
    #expect(await repeatRegistration(throttle, right: false) == "wrong")
    #expect(await login(throttle, from: Self.away) == "wait 1")
    #expect(await repeatRegistration(throttle, right: true) == "wait 1")
  }

  @Test("concurrent attempts are all counted")
  func atOnce() async {
    let throttle = throttle(account: 5)
    let waited = await withTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { await fail(throttle, "a@x.org") } }
      return await group.reduce(into: 0) { $0 += $1.hasPrefix("wait") ? 1 : 0 }
    }
    #expect(waited == 44)
  }

  @Test("switched off, it lets everything through")
  func off() async {
    var settings = LoginSettings()
    settings.isOn = false
    let throttle = LoginThrottle(settings)
    for _ in 0..<99 { #expect(await fail(throttle, "a") == "wrong") }
  }
}
