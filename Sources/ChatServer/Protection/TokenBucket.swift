/// How many requests may come at once, and in how many seconds as many become free again.
package struct RatePolicy: Sendable, Hashable {
  package var requests: Int
  package var seconds: Int

  package init(requests: Int, seconds: Int) {
    self.requests = requests
    self.seconds = seconds
  }
}

/// A token bucket as one number: the moment at which it will be full again. A token taken moves that moment further by
/// the time that a token takes to come back; a bucket whose moment lies in the past is full, and needs no row anywhere.
struct TokenBucket: Sendable, Hashable {
  /// A policy in the unit of the clock, nanoseconds.
  struct Rate: Sendable, Hashable {
    let requests: Int
    /// From one token to the next.
    let interval: UInt64
    /// From empty to full.
    let window: UInt64

    /// - Returns: nil when the policy lets nothing through, which stands for no limit.
    init?(_ policy: RatePolicy) {
      guard let requests = UInt64(exactly: policy.requests), requests > 0,
        let seconds = UInt64(exactly: policy.seconds), seconds > 0
      else { return nil }
      self.requests = policy.requests
      interval = max(1, seconds * 1_000_000_000 / requests)
      window = interval * requests
    }
  }

  enum Decision: Sendable, Hashable {
    /// - Parameters:
    ///   - left: tokens that are still there.
    ///   - fullIn: nanoseconds.
    case admitted(left: Int, fullIn: UInt64)
    /// - Parameter retryIn: nanoseconds until there is a token.
    case refused(retryIn: UInt64)
  }

  /// In nanoseconds of a clock that only moves forward.
  private var fullAt: UInt64 = 0

  /// - Parameter tokens: how many at once; what takes more than the bucket holds is never admitted.
  mutating func take(_ tokens: UInt64 = 1, at now: UInt64, under rate: Rate) -> Decision {
    let missing = fullAt > now ? fullAt - now : 0
    let taken = missing + rate.interval * tokens
    guard taken <= rate.window else { return .refused(retryIn: taken - rate.window) }
    fullAt = now + taken
    return .admitted(left: Int(clamping: (rate.window - taken) / rate.interval), fullIn: taken)
  }

  /// Puts back tokens that were taken and not used.
  mutating func putBack(_ tokens: UInt64, under rate: Rate) {
    let time = rate.interval * tokens
    fullAt -= min(fullAt, time)
  }
}
