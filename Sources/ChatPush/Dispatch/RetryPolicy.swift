/// When a notification that was not delivered is sent again, and when it is given up.
enum RetryPolicy {
  /// The delay before the second attempt, in milliseconds, plus or minus `jitter`.
  static let firstDelayMilliseconds = 200.0
  /// The longest delay before an attempt, in milliseconds, plus or minus `jitter`.
  static let longestDelayMilliseconds = 60_000.0
  /// The fraction by which a delay is longer or shorter, so that notifications that failed together are not sent again
  /// together.
  static let jitter = 0.25
  /// The number of attempts after which a notification is given up: about an hour and a half after the first.
  static let attempts = 100
  /// The age after which a notification is no longer sent, in milliseconds: one day. So if push was switched off for
  /// longer, it does not send old notifications.
  static let lifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// The delay before the next attempt for a device whose new provider accepts no notifications now, in milliseconds.
  static let heldMilliseconds = 10_000

  /// - Parameters:
  ///   - attempt: the number of the failed attempt, from 1.
  ///   - chance: a random number from 0 to 1.
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
