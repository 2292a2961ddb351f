import Synchronization

/// Push services that asked for a pause, by their origins. Browsers have several push services, so one of them does not pause
/// the others.
///
/// After a pause, one message is sent as a trial. If the service responds to it without asking for another pause, all others
/// follow.
final class OriginPauses: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// The maximum number of origins in memory. When there are that many, those whose pause has ended are dropped, or all if
  /// none has.
  static let capacity = 256
  /// The longest pause, in seconds.
  static let longestSeconds = ProviderGate.longestSetPauseSeconds
  /// How long a trial may take, in seconds. Then the next message is a trial.
  static let trialSeconds = ProviderClient.timeoutSeconds
  /// The longest time that others wait during a trial before they ask again, in seconds.
  static let trialHoldSeconds: Int64 = 1

  enum Opening: Hashable {
    /// A message may be sent. Pass `isTrial` to `pause` or `end`.
    case open(isTrial: Bool)
    /// No message may be sent for this time.
    case closed(Duration)
  }

  private struct Pause {
    /// When the pause, or the time for the trial, ends. Then the next message is a trial.
    var end: Instant
    var isTrying = false
  }

  private let pauses = Mutex<[String: Pause]>([:])

  /// How many origins are in memory.
  var count: Int { pauses.withLock(\.count) }

  /// Whether a message may be sent to the origin now.
  func opening(of origin: String, at now: Instant = .now) -> Opening {
    pauses.withLock { pauses in
      guard let pause = pauses[origin] else { return .open(isTrial: false) }
      if now < pause.end {
        let rest = pause.end - now
        return .closed(pause.isTrying ? min(rest, .seconds(Self.trialHoldSeconds)) : rest)
      }
      pauses[origin] = Pause(end: now + .seconds(Self.trialSeconds), isTrying: true)
      return .open(isTrial: true)
    }
  }

  /// Call this when the service has asked for a pause.
  /// - Returns: how long the pause is.
  func pause(_ origin: String, for duration: Duration, isTrial: Bool, at now: Instant = .now) -> Duration {
    let length = min(duration, .seconds(Self.longestSeconds))
    pauses.withLock { pauses in
      if pauses[origin] == nil, pauses.count >= Self.capacity {
        pauses = pauses.filter { $0.value.end > now }
        if pauses.count >= Self.capacity { pauses.removeAll() }
      }
      // A response to a message from before the pause does not shorten it.
      if !isTrial, let known = pauses[origin], known.end >= now + length { return }
      pauses[origin] = Pause(end: now + length)
    }
    return length
  }

  /// Call this when the service has responded to a trial and did not ask for a pause.
  func end(_ origin: String) { pauses.withLock { $0[origin] = nil } }
}
