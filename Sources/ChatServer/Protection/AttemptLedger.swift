/// How failed attempts slow the next ones.
package struct AttemptPolicy: Sendable, Hashable {
  /// The number of failures without a delay, because people mistype.
  package var free: Int
  /// The first delay, in seconds; each further failure doubles it.
  package var firstDelay = 1
  /// The longest delay, in seconds.
  package var longestDelay: Int
  /// The seconds after the last attempt at which failures are forgotten.
  package var memory: Int

  package init(free: Int, longestDelay: Int, memory: Int) {
    self.free = free
    self.longestDelay = longestDelay
    self.memory = memory
  }
}

/// The failed attempts on one account, or from one address. Times are in nanoseconds of a clock that only moves
/// forward.
struct AttemptLedger: Sendable, Hashable {
  private var failures = 0
  private var blockedUntil: UInt64 = 0
  private var last: UInt64 = 0

  private static let nanosecondsPerSecond: UInt64 = 1_000_000_000

  /// Counts an attempt as failed until its outcome is known, so that many simultaneous attempts cannot all pass.
  /// - Parameter guesses: the number of passwords that the attempt tries.
  /// - Returns: nil if the attempt may be made. Otherwise, how long to wait, in nanoseconds; the attempt is not
  ///   counted.
  mutating func begin(at now: UInt64, under policy: AttemptPolicy, guesses: Int = 1) -> UInt64? {
    if blockedUntil > now { return blockedUntil - now }
    if now - min(now, last) >= Self.nanoseconds(policy.memory) { failures = 0 }
    failures += guesses
    block(from: now, under: policy)
    return nil
  }

  /// Confirms that the attempt failed. Its delay counts from now, because checking a password takes time.
  mutating func fail(at now: UInt64, under policy: AttemptPolicy) { block(from: now, under: policy) }

  private mutating func block(from now: UInt64, under policy: AttemptPolicy) {
    last = now
    if failures > policy.free {
      let doublings = min(failures - policy.free - 1, 62)
      let (seconds, isTooLong) = policy.firstDelay.multipliedReportingOverflow(by: 1 << doublings)
      blockedUntil = now + Self.nanoseconds(isTooLong ? policy.longestDelay : min(seconds, policy.longestDelay))
    }
  }

  /// Takes back an attempt that did not fail, and ends the delay.
  mutating func withdraw(guesses: Int = 1) {
    failures = max(0, failures - guesses)
    blockedUntil = 0
  }

  private static func nanoseconds(_ seconds: Int) -> UInt64 { UInt64(clamping: seconds) * nanosecondsPerSecond }
}
