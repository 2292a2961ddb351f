import Synchronization

/// Push services that asked for a pause, by their origins. Browsers have several push services, so one of them does not pause
/// the others.
///
/// After a pause, one message is sent as a trial. If the service responds to it without asking for another pause, all others
/// follow.
final class OriginPauses: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// The maximum number of origins in memory. When there are that many, all are dropped.
  static let capacity = 256
  /// The longest pause, in seconds.
  static let longestSeconds = ProviderGate.longestSetPauseSeconds
  /// How long others wait for the response to a trial, in seconds.
  static let trialSeconds = ProviderClient.timeoutSeconds

  enum Opening: Hashable {
    /// A message may be sent. Pass `isTrial` to `pause` or `end`.
    case open(isTrial: Bool)
    /// No message may be sent for this time.
    case closed(Duration)
  }

  private let ends = Mutex<[String: Instant]>([:])

  /// How many origins are in memory.
  var count: Int { ends.withLock(\.count) }

  /// Whether a message may be sent to the origin now.
  func opening(of origin: String, at now: Instant = .now) -> Opening {
    ends.withLock { ends in
      guard let end = ends[origin] else { return .open(isTrial: false) }
      if now < end { return .closed(end - now) }
      ends[origin] = now + .seconds(Self.trialSeconds)
      return .open(isTrial: true)
    }
  }

  /// Call this when the service has asked for a pause.
  /// - Returns: how long the pause is.
  func pause(_ origin: String, for duration: Duration, isTrial: Bool, at now: Instant = .now) -> Duration {
    let pause = min(duration, .seconds(Self.longestSeconds))
    ends.withLock { ends in
      if ends[origin] == nil, ends.count >= Self.capacity { ends.removeAll() }
      // A response to a message from before the pause does not shorten it.
      ends[origin] = isTrial ? now + pause : max(ends[origin] ?? now, now + pause)
    }
    return pause
  }

  /// Call this when the service has responded to a trial and did not ask for a pause.
  func end(_ origin: String) { ends.withLock { $0[origin] = nil } }
}
