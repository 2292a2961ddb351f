/// When a notification that was not delivered is sent again, and when it is given up.
struct RetryPolicy: Sendable {
  /// Before the second attempt, in milliseconds, give or take `jitter`.
  static let firstDelayMilliseconds = 200.0
  /// Before any attempt at most, in milliseconds, give or take `jitter`.
  static let longestDelayMilliseconds = 60_000.0
  /// By what part of itself a delay is longer or shorter, so that what failed together does not come back together.
  static let jitter = 0.25
  /// Attempts after which a notification is given up: about an hour and a half after the first.
  static let attempts = 100
  /// The age after which a notification is not sent any more, in milliseconds: a day. Push that was switched off for
  /// longer does not come back with old notifications.
  static let lifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// - Parameters:
  ///   - attempt: the one that failed, from 1.
  ///   - chance: from 0 to 1.
  static func delay(after attempt: Int, chance: Double) -> Duration {
    var milliseconds = firstDelayMilliseconds
    var doublings = max(attempt, 1) - 1
    while doublings > 0, milliseconds < longestDelayMilliseconds {
      milliseconds *= 2
      doublings -= 1
    }
    milliseconds = min(milliseconds, longestDelayMilliseconds)
    return .milliseconds(milliseconds * (1 - jitter + 2 * jitter * min(max(chance, 0), 1)))
  }
}
