import ChatPrimitives

/// Decides when an issuer's keys are fetched. It is a plain value: the caller passes the time and the outcome of each
/// fetch.
struct KeySetFreshness: Sendable, Hashable {
  /// The limits to which an issuer's `max-age` is clamped, and the value that is used without one, in milliseconds.
  static let minimumAge: Int64 = 60_000
  static let maximumAge: Int64 = 24 * 60 * 60_000
  static let defaultAge: Int64 = 60 * 60_000
  /// The pause between two fetches for keys that the set does not have, because anyone can name a missing key. In
  /// milliseconds.
  static let unknownKeyPause: Int64 = 60_000
  /// The pause before the next fetch after a failed one, in milliseconds.
  static let failurePause: Int64 = 10_000
  /// How long stale keys stay in use while their issuer does not respond, in milliseconds.
  static let staleUse: Int64 = 24 * 60 * 60_000

  enum Advice: Hashable {
    /// Use the current keys.
    case use
    /// Fetch the keys. If that fails, use the current ones.
    case fetch
    /// There are no keys to use, and it is too soon to fetch.
    case wait
  }

  private var fetched: Timestamp?
  private var freshUntil: Timestamp?
  private var failed: Timestamp?

  /// - Parameter hasKey: whether the newest set has the key that is needed; false also if there is no set.
  func advice(hasKey: Bool, at now: Timestamp) -> Advice {
    // A time in the future was recorded before the clock was set back.
    let mayTry = failed.map { now < $0 || now >= $0.adding(milliseconds: Self.failurePause) } ?? true
    if let fetched, now.adding(milliseconds: Limits.clockJumpMilliseconds) < fetched { return mayTry ? .fetch : .use }
    guard let fetched, let freshUntil, now < freshUntil.adding(milliseconds: Self.staleUse) else {
      return mayTry ? .fetch : .wait
    }
    if now >= freshUntil { return mayTry ? .fetch : .use }
    if hasKey { return .use }
    return mayTry && now >= fetched.adding(milliseconds: Self.unknownKeyPause) ? .fetch : .use
  }

  /// - Parameter maximumAge: the issuer's `max-age` in seconds; nil if it has none.
  mutating func noteFetched(at now: Timestamp, maximumAge: Int64?) {
    let issuerAge = maximumAge.map { $0.multipliedReportingOverflow(by: 1000) }
    let age = issuerAge.map { $0.overflow ? Self.maximumAge : $0.partialValue } ?? Self.defaultAge
    fetched = now
    freshUntil = now.adding(milliseconds: min(max(age, Self.minimumAge), Self.maximumAge))
    failed = nil
  }

  mutating func noteFailed(at now: Timestamp) {
    failed = now
  }
}
