/// What a runner does after a fault, and after how long. A value without a clock, so that it can be tested.
struct RecoveryPlan: Sendable {
  enum Action: Sendable, Hashable {
    /// Try the same step again.
    case retry(afterMilliseconds: Int)
    /// Move the file aside and rebuild it from the log.
    case rebuild(afterMilliseconds: Int)
    /// Stay as it is until the server is restarted.
    case halt
  }

  /// Before the second attempt, in milliseconds. Each later one waits twice as long.
  static let firstDelayMilliseconds = 250
  /// The longest wait between two attempts, in milliseconds: the read model follows again this soon after the disk has
  /// recovered.
  static let longestDelayMilliseconds = 15_000
  /// How many rebuilds in a row may fail to reach the head of the log.
  static let rebuildLimit = 4

  /// Attempts that failed since the last one that succeeded.
  private var failures = 0
  /// Rebuilds since the file last reached the head of the log.
  private var rebuilds = 0

  mutating func action(after kind: ProjectionFault.Kind) -> Action {
    switch kind {
    case .temporary:
      failures += 1
      return .retry(afterMilliseconds: Self.delay(failures))
    case .damaged:
      guard rebuilds < Self.rebuildLimit else { return .halt }
      rebuilds += 1
      // The first rebuild starts at once. Later ones wait, so that a disk that damages each new file gets pauses.
      return .rebuild(afterMilliseconds: rebuilds == 1 ? 0 : Self.delay(rebuilds - 1))
    case .permanent:
      return .halt
    }
  }

  /// A step has succeeded.
  mutating func succeeded() { failures = 0 }

  /// The file can be read: a rebuilt one has reached the position that was the head when the rebuild began.
  mutating func caughtUp() { rebuilds = 0 }

  private static func delay(_ attempts: Int) -> Int {
    let doublings = min(attempts - 1, Int.bitWidth / 4)
    return min(firstDelayMilliseconds << doublings, longestDelayMilliseconds)
  }
}
