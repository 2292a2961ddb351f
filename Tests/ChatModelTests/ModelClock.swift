import ChatPrimitives
import Synchronization

/// The clock of the service, the generator and the comparison. It stands still until the run moves it, so that a seed
/// behaves the same on every machine.
final class ModelClock: Sendable {
  private let time: Mutex<Timestamp>

  /// - Parameter start: 2026-01-01T00:00:00Z by default.
  init(start: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)) {
    time = Mutex(start)
  }

  func now() -> Timestamp { time.withLock { $0 } }

  func pass(milliseconds: Int64) { time.withLock { $0 = $0.adding(milliseconds: milliseconds) } }

  /// Moves the clock forward to this time. It never moves back.
  func reach(_ moment: Timestamp) { time.withLock { $0 = max($0, moment) } }
}
