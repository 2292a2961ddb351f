import ChatPrimitives
import EventStore
import Synchronization

/// What one writer sends at once and waits for: the last answer ends it.
final class Turn: Sendable {
  private let missing: Atomic<Int>
  private let whenDone: @Sendable () -> Void

  /// - Parameter whenDone: called on the thread of the last answer.
  init(commands: Int, whenDone: @escaping @Sendable () -> Void) {
    missing = Atomic(commands)
    self.whenDone = whenDone
  }

  /// Takes one answer. A refused one ends the measurement: there is nothing to measure then.
  func take(_ answer: Result<LogPosition, CommitError>) {
    if case .failure(let error) = answer { fatalError("the log rejected an event: \(error)") }
    if missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenDone() }
  }
}
