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
  /// How many requests may begin at `refillTime`.
  private var tokens = 0.0
  private var refillTime: Instant?

  init(requestsPerSecond: Int) { self.requestsPerSecond = Double(requestsPerSecond) }

  /// When to ask again whether a request may begin; nil if one may begin now.
  mutating func nextAttempt(at now: Instant) -> Instant? {
    refill(at: now)
    if tokens >= 1 { return nil }
    return now + .seconds(max((1 - tokens) / requestsPerSecond, Self.shortestWaitSeconds))
  }

  private mutating func refill(at now: Instant) {
    let capacity = max(requestsPerSecond * Self.burstSeconds, 1)
    guard let last = refillTime else {
      (tokens, refillTime) = (capacity, now)
      return
    }
    guard now > last else { return }
    tokens = min(tokens + (now - last) / .seconds(1) * requestsPerSecond, capacity)
    refillTime = now
  }

  /// Counts a request that begins.
  mutating func begin() { tokens -= 1 }

  /// Gives a request back that was counted but not sent.
  mutating func refund() { tokens += 1 }
}
