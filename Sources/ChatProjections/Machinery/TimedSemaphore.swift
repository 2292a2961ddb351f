import EventStore

/// A semaphore that is waited for so long at most, by the monotonic clock.
///
/// Unchecked: `count` is touched only while `condition` is locked.
final class TimedSemaphore: @unchecked Sendable {
  private let condition = MonotonicCondition()
  private var count = 0

  func signal() {
    condition.withLock {
      count += 1
      condition.broadcast()
    }
  }

  /// Takes one signal, or returns when the time is over.
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
