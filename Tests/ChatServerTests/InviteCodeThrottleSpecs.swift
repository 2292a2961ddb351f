import ChatDomain
import ChatPrimitives
import ChatService
import Synchronization
import Testing

@testable import ChatServer

@Suite("The throttle of invite codes")
struct InviteCodeThrottleSpecs {
  private static let second: UInt64 = 1_000_000_000

  /// A clock that moves only if a test moves it.
  private final class StillClock: Sendable {
    let now = Atomic<UInt64>(0)
  }

  private let clock = StillClock()
  private let anna: UserID = ID(UUIDBytes(high: 1, low: 1))
  private let ben: UserID = ID(UUIDBytes(high: 1, low: 2))

  private func throttle(user: Int = 2, address: Int = 100, isOn: Bool = true) -> InviteCodeThrottle {
    var settings = LoginSettings()
    settings.isOn = isOn
    settings.account.free = user
    settings.address.free = address
    return InviteCodeThrottle(settings) { [clock] in clock.now.load(ordering: .relaxed) }
  }

  private func use(
    _ throttle: InviteCodeThrottle, by user: UserID, from address: NetworkAddress? = nil, _ rejection: Rejection?
  ) async -> String {
    do {
      try await throttle.attempt(by: user, from: address) {
        if let rejection { throw ServiceError.rejected(rejection) }
      }
      return "right"
    } catch Refusal.tooManyAttempts(let seconds) {
      return "wait \(seconds)"
    } catch ServiceError.rejected(let rejection) {
      return rejection.rawValue
    } catch {
      return "\(error)"
    }
  }

  private let wrong = Rejection.inviteNotFound.rawValue

  @Test("wrong codes of a user delay the user's next ones, and nobody else's")
  func user() async {
    let throttle = throttle()
    for _ in 0..<3 { #expect(await use(throttle, by: anna, .inviteNotFound) == wrong) }
    #expect(await use(throttle, by: anna, nil) == "wait 1")
    #expect(await use(throttle, by: ben, .inviteNotFound) == wrong)
    clock.now.store(Self.second, ordering: .relaxed)
    #expect(await use(throttle, by: anna, .inviteNotFound) == wrong)
    #expect(await use(throttle, by: anna, nil) == "wait 2")
  }

  @Test("wrong codes from one address delay all its users; a service has none")
  func address() async throws {
    let throttle = throttle(user: 100, address: 3)
    let address = try #require(NetworkAddress("192.0.2.1"))
    for user in [anna, ben, anna, ben] {
      #expect(await use(throttle, by: user, from: address, .inviteNotFound) == wrong)
    }
    #expect(await use(throttle, by: anna, from: address, nil) == "wait 1")
    #expect(await use(throttle, by: anna, nil) == "right")
  }

  @Test("only codes that no invite has count, and a right one does not reset them")
  func rightCodes() async {
    let throttle = throttle()
    for rejection: Rejection? in [nil, .inviteExpired, .inviteRevoked, .inviteUsedUp, .banned, nil, nil] {
      #expect(await use(throttle, by: anna, rejection) == rejection?.rawValue ?? "right")
    }
    for _ in 0..<2 { #expect(await use(throttle, by: anna, .inviteNotFound) == wrong) }
    #expect(await use(throttle, by: anna, nil) == "right")
    #expect(await use(throttle, by: anna, .inviteNotFound) == wrong)
    #expect(await use(throttle, by: anna, nil) == "wait 1")
  }

  @Test("is switched off with the one of logins")
  func off() async {
    let throttle = throttle(isOn: false)
    for _ in 0..<50 { #expect(await use(throttle, by: anna, .inviteNotFound) == wrong) }
  }
}
