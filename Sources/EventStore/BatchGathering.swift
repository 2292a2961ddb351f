/// Whether a batch that could be written now should wait a moment for more.
///
/// Whoever was answered at once often comes back at once, but not all in the same microsecond. Where the first of them
/// were taken and written alone, the others would wait for that sync, and from then on each sync would serve half. So a
/// batch with fewer commands than the one before waits for the others, as long as they keep coming. Where they do not
/// come, such as over a network, waiting is soon tried no more than now and then.
struct BatchGathering {
  /// How long nothing must have come before a batch is written: a small part of a sync.
  static let patience: Duration = .microseconds(8)
  /// How many batches at most go by without an attempt.
  static let longestPause = 64
  /// Once in so many batches as many again are hoped for as there are, so that halves find together.
  static let hopeInterval = 32

  private var expected = 0
  private var batches = 0
  private var pause = 0
  /// Batches that still go by without an attempt.
  private var skipped = 0

  /// Whether to wait for more.
  /// - Parameter count: commands in the batch so far.
  func isWorthwhile(for count: Int) -> Bool {
    skipped == 0 && count < expected
  }

  /// Takes note of a batch that is written now.
  /// - Parameters:
  ///   - count: its commands.
  ///   - waited: whether it waited for more.
  ///   - gained: whether any came.
  mutating func note(count: Int, waited: Bool, gained: Bool) {
    batches &+= 1
    expected = batches % Self.hopeInterval == 0 ? 2 * count : count
    if gained {
      pause = 0
    } else if waited {
      pause = min(max(1, pause * 2), Self.longestPause)
      skipped = pause
    } else if skipped > 0 {
      skipped -= 1
    }
  }
}
