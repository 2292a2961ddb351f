/// Decides when the next notification may be sent to a provider. That depends on its state (running, paused or stopped)
/// and on the limit of requests per second.
///
/// A circuit breaker, but with the plain meaning of the words: open lets attempts through, closed lets only trials
/// through. One failure can close it.
///
/// It has no clock and does no I/O: the owner asks before each attempt, and reports how it ended.
struct ProviderGate {
  typealias Instant = ContinuousClock.Instant

  /// How often a stopped provider is tried, in seconds, so that it recovers when its console is corrected.
  static let stoppedSeconds = 60
  /// The first pause that the provider itself did not set, in seconds. It doubles with each further one.
  static let firstPauseSeconds = 1
  /// The longest pause that the provider itself did not set, in seconds.
  static let longestPauseSeconds = 60
  /// The longest pause that a provider can set, in seconds.
  static let longestSetPauseSeconds = 3600

  enum State: Sendable, Hashable {
    case running
    case paused(reason: String)
    case stopped(reason: String)
  }

  enum Opening: Hashable {
    case open
    /// Closed until this time.
    case at(Instant)
    /// Closed until the trial ends: the attempt that shows whether the provider works again.
    case trying
  }

  /// What an attempt says about the provider.
  enum Signal: Sendable, Hashable {
    /// Nothing was sent.
    case none
    /// The provider accepted the notification.
    case accepted
    /// The provider handled the notification, but did not accept it.
    case reached
    case failed
    case paused(reason: String, for: Duration)
    case stopped(reason: String)
    /// The provider refused the notification, perhaps because a key or a topic is wrong.
    /// - `canFollowAcceptance`: whether the provider can respond so after it has accepted a notification.
    case possiblyWrongKey(reason: String, canFollowAcceptance: Bool = false)
    /// One of the provider's services asked for a pause.
    case originPaused(reason: String)
    /// The provider refused the key for so many devices that the key is probably wrong.
    case keyRefused(reason: String)
  }

  /// What an operator has to know.
  enum Change: Hashable {
    case paused(reason: String)
    case stopped(reason: String)
    case recovered
    /// A notification was refused, perhaps because a key or a topic is wrong. The state does not change.
    case possiblyWrongKey(reason: String)
    /// One of the provider's services asked for a pause. The state does not change.
    case originPaused(reason: String)
    /// A notification was accepted after such a refusal.
    case refusalEnded
  }

  private(set) var state = State.running
  /// The last refusal that can mean a wrong key or topic. Nil if a notification was accepted since.
  private(set) var refusal: String?
  /// Whether the provider has accepted a notification. Then the server's own key and topic are right (`KeyRefusals`), so a
  /// result that says otherwise is from before, although it arrives later.
  private var hasAccepted = false
  /// Whether it is stopped because of `Signal.keyRefused`. Then it stays open: each device waits by itself, and others may
  /// show that the key is right.
  private var isKeyRefused = false
  /// Whether only trials may begin.
  var isClosed: Bool { state != .running && !isKeyRefused }
  /// When the next trial of a paused or stopped provider may begin.
  private var tryingDue: Instant?
  private var isTrying = false
  /// The number of pauses in a row.
  private var pauses = 0
  /// Nil if there is no limit.
  private var rateLimit: RequestRateLimit?

  /// - Parameter requestsPerSecond: nil if there is no limit.
  init(requestsPerSecond: Int? = nil) {
    rateLimit = requestsPerSecond.map(RequestRateLimit.init)
  }

  // MARK: - Attempts

  /// Whether an attempt may begin.
  mutating func opening(at now: Instant) -> Opening {
    if isClosed {
      if isTrying { return .trying }
      if let tryingDue, tryingDue > now { return .at(tryingDue) }
    }
    if let next = rateLimit?.nextAttempt(at: now) { return .at(next) }
    return .open
  }

  /// Call this when an attempt begins, after `opening` was `.open`.
  /// - Returns: whether the attempt is a trial. Pass it to `end`.
  mutating func begin() -> Bool {
    rateLimit?.begin()
    guard isClosed else { return false }
    isTrying = true
    return true
  }

  /// Call this when an attempt has ended.
  mutating func end(isTrial: Bool, _ signal: Signal, at now: Instant) -> Change? {
    if isTrial { isTrying = false }
    switch signal {
    case .none:
      rateLimit?.refund()
      return nil
    case .accepted, .reached:
      if signal == .accepted { hasAccepted = true }
      let endsRefusal = signal == .accepted && refusal != nil
      if endsRefusal { refusal = nil }
      // An attempt that began before the pause does not show that the provider works again. A refused key is right only if a
      // notification is accepted.
      guard isKeyRefused ? signal == .accepted : isTrial && state != .running else {
        return endsRefusal ? .refusalEnded : nil
      }
      (state, pauses, isKeyRefused) = (.running, 0, false)
      return .recovered
    case .failed:
      if isTrial { postponeTrial(at: now) }
      return nil
    case .paused(let reason, let duration): return pause(isTrial: isTrial, reason, for: duration, at: now)
    case .stopped(let reason): return stop(isTrial: isTrial, reason, at: now)
    case .possiblyWrongKey(let reason, let canFollowAcceptance):
      if isTrial { postponeTrial(at: now) }
      guard canFollowAcceptance || !hasAccepted else { return nil }
      refusal = reason
      return .possiblyWrongKey(reason: reason)
    // Nothing closes the gate of Web Push, so this was no trial.
    case .originPaused(let reason): return .originPaused(reason: reason)
    case .keyRefused(let reason):
      if isTrial { postponeTrial(at: now) }
      guard state == .running, !hasAccepted else { return nil }
      (state, isKeyRefused) = (.stopped(reason: reason), true)
      return .stopped(reason: reason)
    }
  }

  private mutating func pause(isTrial: Bool, _ reason: String, for duration: Duration, at now: Instant) -> Change? {
    let set = min(duration, .seconds(Self.longestSetPauseSeconds))
    switch state {
    case .running:
      pauses = 1
      state = .paused(reason: reason)
      tryingDue = now + max(set, pauseLength)
      return .paused(reason: reason)
    case .paused:
      if isTrial {
        state = .paused(reason: reason)
        postponeTrial(at: now)
      }
      tryingDue = max(tryingDue ?? now, now + set)
      return nil
    case .stopped:
      if isTrial { tryingDue = now + max(set, .seconds(Self.stoppedSeconds)) }
      return nil
    }
  }

  private mutating func stop(isTrial: Bool, _ reason: String, at now: Instant) -> Change? {
    switch state {
    case .running, .paused:
      state = .stopped(reason: reason)
      tryingDue = now + .seconds(Self.stoppedSeconds)
      return .stopped(reason: reason)
    case .stopped:
      if isTrial {
        state = .stopped(reason: reason)
        tryingDue = now + .seconds(Self.stoppedSeconds)
      }
      return nil
    }
  }

  private mutating func postponeTrial(at now: Instant) {
    switch state {
    case .running: break
    case .paused:
      pauses += 1
      tryingDue = now + pauseLength
    case .stopped: tryingDue = now + .seconds(Self.stoppedSeconds)
    }
  }

  private var pauseLength: Duration {
    var seconds = Self.firstPauseSeconds
    for _ in 1..<max(pauses, 1) where seconds < Self.longestPauseSeconds { seconds *= 2 }
    return .seconds(min(seconds, Self.longestPauseSeconds))
  }
}
