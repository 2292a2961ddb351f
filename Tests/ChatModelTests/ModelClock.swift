import ChatPrimitives
import Synchronization

/// The time that service, generator and comparison go by: it stands still until the run moves it, so that one seed is
/// one run on every machine.
final class ModelClock: Sendable {
  private let time: Mutex<Timestamp>

  /// - Parameter start: 2026-01-01T00:00:00Z, unless the run wants another day.
  init(start: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)) {
    time = Mutex(start)
  }

  func now() -> Timestamp { time.withLock { $0 } }

  func pass(milliseconds: Int64) { time.withLock { $0 = $0.adding(milliseconds: milliseconds) } }

  /// Never back.
  func reach(_ moment: Timestamp) { time.withLock { $0 = max($0, moment) } }
}
