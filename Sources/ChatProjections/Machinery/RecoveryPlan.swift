/// Decides what a runner does after a fault, and after what delay. It has no clock of its own, so that it is easy to
/// test.
struct RecoveryPlan: Sendable {
  enum Action: Sendable, Hashable {
    /// Try the same step again.
    case retry(afterMilliseconds: Int)
    /// Move the file aside and rebuild it from the log.
    case rebuild(afterMilliseconds: Int)
    /// Stay halted until the server is restarted.
    case halt
  }

  /// The delay before the second attempt, in milliseconds. Each later delay is twice as long.
  static let firstDelayMilliseconds = 250
  /// The longest delay between two attempts, in milliseconds. So the read model follows again at most this long after
  /// the disk has recovered.
  static let longestDelayMilliseconds = 15_000
  /// How many rebuilds in a row may fail to reach the head of the log.
  static let rebuildLimit = 4

  /// The number of failed attempts since the last successful one.
  private var failures = 0
  /// The number of rebuilds since the file last reached the head of the log.
  private var rebuilds = 0

  mutating func action(after kind: ProjectionFault.Kind) -> Action {
    switch kind {
    case .temporary:
      failures += 1
      return .retry(afterMilliseconds: Self.delay(failures))
    case .damaged:
      guard rebuilds < Self.rebuildLimit else { return .halt }
      rebuilds += 1
      // The first rebuild starts at once. Later ones are delayed, in case the disk damages each new file.
      return .rebuild(afterMilliseconds: rebuilds == 1 ? 0 : Self.delay(rebuilds - 1))
    case .permanent:
      return .halt
    }
  }

  /// Call this when a step has succeeded.
  mutating func succeeded() { failures = 0 }

  /// Call this when the file can be read: a rebuilt file must have reached the position that was the head when the
  /// rebuild began.
  mutating func caughtUp() { rebuilds = 0 }

  private static func delay(_ attempts: Int) -> Int {
    let doublings = min(attempts - 1, Int.bitWidth / 4)
    return min(firstDelayMilliseconds << doublings, longestDelayMilliseconds)
  }
}
