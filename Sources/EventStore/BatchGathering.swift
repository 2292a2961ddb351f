/// Decides whether a batch that could be written now should wait a moment for more commands.
///
/// Clients often send the next command as soon as they get a reply, but not all in the same microsecond. If the first
/// of these commands were written alone, the others would have to wait for that sync, and from then on each sync would
/// serve only half of the clients. Therefore a batch with fewer commands than the previous one waits for the others, as
/// long as they keep arriving. If none arrive, as is typical over a network, waiting is tried only occasionally.
struct BatchGathering {
  /// How long no command must have arrived before a batch is written: a small part of the time of a sync.
  static let maximumWait: Duration = .microseconds(8)
  /// The maximum number of batches in a row without an attempt to wait.
  static let longestPause = 64
  /// After this many batches, the next one expects twice as many commands, so that two alternating halves merge.
  static let growthInterval = 32

  private var expected = 0
  private var batches = 0
  private var pause = 0
  /// The number of batches still to be written without an attempt to wait.
  private var skipped = 0

  /// Whether to wait for more.
  /// - Parameter count: the number of commands in the batch so far.
  func isWorthwhile(for count: Int) -> Bool {
    skipped == 0 && count < expected
  }

  /// Records a batch that is written now.
  /// - Parameters:
  ///   - count: the number of its commands.
  ///   - waited: whether it waited for more commands.
  ///   - gained: whether any arrived while it waited.
  mutating func note(count: Int, waited: Bool, gained: Bool) {
    batches &+= 1
    expected = batches % Self.growthInterval == 0 ? 2 * count : count
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
