import ChatPrimitives

/// When an issuer's keys are fetched: a value that is told the time and each fetch's outcome, and says what to do.
struct KeySetFreshness: Sendable, Hashable {
  /// The least and the most that an issuer's `max-age` counts for, and what counts where it says nothing, in
  /// milliseconds.
  static let minimumAge: Int64 = 60_000
  static let maximumAge: Int64 = 24 * 60 * 60_000
  static let defaultAge: Int64 = 60 * 60_000
  /// Between two fetches for keys that the set does not have: anyone can name a key that is not there.
  static let unknownKeyPause: Int64 = 60_000
  /// Between two fetches after a failed one.
  static let failurePause: Int64 = 10_000
  /// How long keys are used after they should have been fetched anew, while their issuer does not answer.
  static let staleUse: Int64 = 24 * 60 * 60_000

  enum Advice: Hashable {
    /// What there is, is good.
    case use
    /// Fetch, and use what there is when that fails.
    case fetch
    /// There is nothing to use, and it is too soon to fetch.
    case wait
  }

  private var fetched: Timestamp?
  private var freshUntil: Timestamp?
  private var failed: Timestamp?

  /// - Parameter hasKey: whether the newest set has the key that is needed; false also where there is no set.
  func advice(hasKey: Bool, at now: Timestamp) -> Advice {
    // A time that is still to come is from before the clock was set back.
    let mayTry = failed.map { now < $0 || now >= $0.adding(milliseconds: Self.failurePause) } ?? true
    if let fetched, now.adding(milliseconds: Limits.clockJumpMilliseconds) < fetched { return mayTry ? .fetch : .use }
    guard let fetched, let freshUntil, now < freshUntil.adding(milliseconds: Self.staleUse) else {
      return mayTry ? .fetch : .wait
    }
    if now >= freshUntil { return mayTry ? .fetch : .use }
    if hasKey { return .use }
    return mayTry && now >= fetched.adding(milliseconds: Self.unknownKeyPause) ? .fetch : .use
  }

  /// - Parameter maximumAge: as the issuer says, in seconds.
  mutating func noteFetched(at now: Timestamp, maximumAge: Int64?) {
    let age = maximumAge.map { $0.multipliedReportingOverflow(by: 1000) }
    let wanted = age.map { $0.overflow ? Self.maximumAge : $0.partialValue } ?? Self.defaultAge
    fetched = now
    freshUntil = now.adding(milliseconds: min(max(wanted, Self.minimumAge), Self.maximumAge))
    failed = nil
  }

  mutating func noteFailed(at now: Timestamp) {
    failed = now
  }
}
