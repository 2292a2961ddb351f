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
  /// - Returns: whether there were any.
  @discardableResult
  func reset() -> Bool {
    condition.withLock {
      defer { count = 0 }
      return count > 0
    }
  }

  /// Takes one signal, or returns after the timeout.
  /// - Returns: whether there was a signal.
  @discardableResult
  func wait(milliseconds: Int) -> Bool {
    let deadline = MonotonicCondition.Deadline(millisecondsFromNow: milliseconds)
    return condition.withLock {
      while count == 0 {
        guard condition.wait(until: deadline) else { return false }
      }
      count -= 1
      return true
    }
  }
}
