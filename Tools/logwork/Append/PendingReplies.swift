import ChatPrimitives
import EventStore
import Synchronization

/// Counts the replies that one writer waits for. Calls `whenDone` after the last one.
final class PendingReplies: Sendable {
  private let missing: Atomic<Int>
  private let whenDone: @Sendable () -> Void

  /// - Parameter whenDone: Called on the thread that delivers the last reply.
  init(commands: Int, whenDone: @escaping @Sendable () -> Void) {
    missing = Atomic(commands)
    self.whenDone = whenDone
  }

  /// Takes one reply. A rejected command ends the program, because the measurement would be meaningless.
  func take(_ reply: Result<LogPosition, CommitError>) {
    if case .failure(let error) = reply { fatalError("the log rejected an event: \(error)") }
    if missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenDone() }
  }
}
