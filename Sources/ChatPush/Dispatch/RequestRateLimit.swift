/// Limits how many requests begin each second, as a token bucket: unused requests can still be used for a short time.
///
/// It has no clock: the owner passes the time.
struct RequestRateLimit {
  typealias Instant = ContinuousClock.Instant

  /// How long unused requests can still be used, in seconds. A longer time would allow bursts above the rate; a shorter
  /// one would waste requests.
  private static let burstSeconds = 0.1
  /// The shortest wait because of the rate, in seconds, so that the owner is not woken for each request.
  private static let shortestWaitSeconds = 0.005

  private let requestsPerSecond: Double
  /// How many requests may begin now, and when this was computed.
  private var allowance = 0.0
  private var allowanceTime: Instant?

  init(requestsPerSecond: Int) { self.requestsPerSecond = Double(requestsPerSecond) }

  /// When to ask again whether a request may begin; nil if one may begin now.
  mutating func waitEnd(at now: Instant) -> Instant? {
    refill(at: now)
    if allowance >= 1 { return nil }
    return now + .seconds(max((1 - allowance) / requestsPerSecond, Self.shortestWaitSeconds))
  }

  private mutating func refill(at now: Instant) {
    let most = max(requestsPerSecond * Self.burstSeconds, 1)
    guard let last = allowanceTime else {
      (allowance, allowanceTime) = (most, now)
      return
    }
    guard now > last else { return }
    allowance = min(allowance + (now - last) / .seconds(1) * requestsPerSecond, most)
    allowanceTime = now
  }

  /// Counts a request that begins.
  mutating func begin() { allowance -= 1 }

  /// Gives a request back that was counted but not sent.
  mutating func giveBack() { allowance += 1 }
}
