/// How many requests may be made at once, and in how many seconds the same number becomes available again.
package struct RatePolicy: Sendable, Hashable {
  package var requests: Int
  package var seconds: Int

  package init(requests: Int, seconds: Int) {
    self.requests = requests
    self.seconds = seconds
  }
}

/// A token bucket, stored as one number: the time at which it will be full again. Taking a token moves that time
/// forward by the time in which one token returns. A bucket whose time has passed is full and need not be stored.
struct TokenBucket: Sendable, Hashable {
  /// A policy in the clock's unit, nanoseconds.
  struct Rate: Sendable, Hashable {
    let requests: Int
    /// The time in which one token returns.
    let interval: UInt64
    /// The time from empty to full.
    let window: UInt64

    /// - Returns: nil if the policy has no requests or no seconds, which means no limit.
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
    ///   - left: the tokens that remain.
    ///   - fullIn: the nanoseconds until the bucket is full.
    case admitted(left: Int, fullIn: UInt64)
    /// - Parameter retryIn: the nanoseconds until there are enough tokens.
    case refused(retryIn: UInt64)
  }

  /// In nanoseconds of a clock that only moves forward.
  private var fullAt: UInt64 = 0

  /// - Parameter tokens: how many to take at once. More than the bucket can hold are never admitted.
  mutating func take(_ tokens: UInt64 = 1, at now: UInt64, under rate: Rate) -> Decision {
    let missing = fullAt > now ? fullAt - now : 0
    let taken = missing + rate.interval * tokens
    guard taken <= rate.window else { return .refused(retryIn: taken - rate.window) }
    fullAt = now + taken
    return .admitted(left: Int(clamping: (rate.window - taken) / rate.interval), fullIn: taken)
  }

  /// Puts back tokens that were taken but not used.
  mutating func refund(_ tokens: UInt64, under rate: Rate) {
    let time = rate.interval * tokens
    fullAt -= min(fullAt, time)
  }
}
