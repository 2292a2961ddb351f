import Glibc

/// A lock with a condition whose timeouts use the monotonic clock.
///
/// On Linux, the timed waits of Foundation and Dispatch end at a time of the wall clock (`pthread_cond_timedwait` and
/// `sem_timedwait` with `CLOCK_REALTIME`). If that clock is set back meanwhile, they wait that much longer.
///
/// Unchecked: both objects are designed for use by several threads, and their memory does not move.
package final class MonotonicCondition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    Self.expect(pthread_mutex_init(mutex, nil))
    Self.expect(pthread_condattr_init(&attributes))
    Self.expect(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
    Self.expect(pthread_cond_init(condition, &attributes))
    Self.expect(pthread_condattr_destroy(&attributes))
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func withLock<Value>(_ body: () throws -> Value) rethrows -> Value {
    Self.expect(pthread_mutex_lock(mutex))
    defer { Self.expect(pthread_mutex_unlock(mutex)) }
    return try body()
  }

  package func broadcast() {
    Self.expect(pthread_cond_broadcast(condition))
  }

  /// Call it only while the lock is held. It may return without a broadcast.
  package func wait() {
    Self.expect(pthread_cond_wait(condition, mutex))
  }

  /// Call it only while the lock is held. It may return without a broadcast.
  /// - Returns: false if the deadline has passed.
  package func wait(until deadline: Deadline) -> Bool {
    var time = deadline.time
    let result = pthread_cond_timedwait(condition, mutex, &time)
    if result == ETIMEDOUT { return false }
    Self.expect(result)
    return true
  }

  /// A point in time of the monotonic clock.
  package struct Deadline: Sendable {
    fileprivate var time = timespec()

    package init(millisecondsFromNow milliseconds: Int) {
      clock_gettime(CLOCK_MONOTONIC, &time)
      time.tv_sec += milliseconds / 1000
      time.tv_nsec += milliseconds % 1000 * 1_000_000
      if time.tv_nsec >= 1_000_000_000 {
        time.tv_sec += 1
        time.tv_nsec -= 1_000_000_000
      }
    }
  }

  /// These calls fail only if they are used incorrectly.
  private static func expect(_ result: Int32) {
    precondition(result == 0, "a call of pthread failed with \(result)")
  }
}
