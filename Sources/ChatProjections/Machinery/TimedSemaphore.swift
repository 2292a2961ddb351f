import EventStore

/// A semaphore whose wait has a timeout, measured by the monotonic clock.
///
/// Unchecked: `count` is only accessed while `condition` is locked.
final class TimedSemaphore: @unchecked Sendable {
  private let condition = MonotonicCondition()
  private var count = 0

  func signal() {
    condition.withLock {
      count += 1
      condition.broadcast()
    }
  }

  /// Takes all signals.
  func reset() { condition.withLock { count = 0 } }

  /// Takes one signal, or returns after the timeout.
  func wait(milliseconds: Int) {
    let deadline = MonotonicCondition.Deadline(millisecondsFromNow: milliseconds)
    condition.withLock {
      while count == 0 {
        guard condition.wait(until: deadline) else { return }
      }
      count -= 1
    }
  }
}
