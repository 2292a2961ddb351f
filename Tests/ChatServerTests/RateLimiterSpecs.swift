import ChatPrimitives
import ChatService
import Testing

@testable import ChatServer

@Suite("All limits of a request at once")
struct RateLimiterSpecs {
  private static let principal = Principal(
    user: UserID(UUIDBytes(high: 1, low: 1)), device: DeviceID(UUIDBytes(high: 2, low: 2)))

  /// - Returns: a limiter whose limits are refilled only after a day.
  private static func limiter(user: Int = 100, device: Int = 100, address: Int = 100) -> RateLimiter {
    var settings = RateLimitSettings()
    settings.user = RatePolicy(requests: user, seconds: 86_400)
    settings.device = RatePolicy(requests: device, seconds: 86_400)
    settings.address = RatePolicy(requests: address, seconds: 86_400)
    return RateLimiter(settings)
  }

  private let address = NetworkAddress("10.1.1.1")

  /// How many requests each limit still admits, measured by using them up.
  private func left(_ limiter: RateLimiter) -> Int {
    var count = 0
    while limiter.admitAtOnce(Self.principal, at: address) != nil { count += 1 }
    return count
  }

  @Test(
    "are charged together, and the smallest one decides",
    arguments: [(3, 9, 9), (9, 3, 9), (9, 9, 3)])
  func together(user: Int, device: Int, address: Int) {
    #expect(left(Self.limiter(user: user, device: device, address: address)) == 3)
  }

  @Test("are charged as by the router")
  func asByTheRouter() throws {
    let limiter = Self.limiter(user: 4, device: 4, address: 4)
    let address = try #require(address)
    for _ in 0..<2 { #expect(limiter.admitAtOnce(Self.principal, at: address) != nil) }
    for _ in 0..<2 { _ = try limiter.admit(Self.principal, rateStatus: limiter.admit(address)) }
    #expect(throws: Refusal.self) { try limiter.admit(address) }
    #expect(throws: Refusal.self) { try limiter.admit(Self.principal, rateStatus: nil) }
  }

  @Test("are as before after they were given back")
  func givenBack() throws {
    let limiter = Self.limiter(user: 5, device: 5, address: 5)
    for _ in 0..<50 {
      let taken = try #require(limiter.admitAtOnce(Self.principal, at: address))
      limiter.giveBack(taken)
    }
    #expect(left(limiter) == 5)
  }

  @Test("are not charged if one of them is reached", arguments: [(3, 9, 9), (9, 3, 9), (9, 9, 3)])
  func refusedIsFree(user: Int, device: Int, address limit: Int) throws {
    let limiter = Self.limiter(user: user, device: device, address: limit)
    let address = try #require(address)
    for _ in 0..<3 { #expect(limiter.admitAtOnce(Self.principal, at: address) != nil) }
    for _ in 0..<50 { #expect(limiter.admitAtOnce(Self.principal, at: address) == nil) }
    // Six requests are left of each limit that is not reached.
    for _ in 0..<(limit == 9 ? 6 : 0) { _ = try limiter.admit(address) }
    #expect(throws: Refusal.self) { try limiter.admit(address) }
    let other = Principal(user: Self.principal.user)
    for _ in 0..<(user == 9 ? 6 : 0) { _ = try limiter.admit(other, rateStatus: nil) }
    #expect(throws: Refusal.self) { try limiter.admit(other, rateStatus: nil) }
  }
}
