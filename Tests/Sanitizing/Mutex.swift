private import Glibc

/// Replaces `Synchronization.Mutex` in builds with ThreadSanitizer. On Linux, that mutex waits with the futex call,
/// which the sanitizer does not understand, so it would report the protected value as unprotected. It understands POSIX
/// mutexes. `Tools/sanitize` links this file into targets that use a `Mutex`. A declaration in a module hides imported
/// ones.
///
/// Unchecked: the value is accessed only in `withLock`, by one thread at a time, and `init` takes it as `sending`, so
/// no other code has a reference to it.
package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  package init(_ initial: consuming sending Value) {
    lock = .allocate(capacity: 1)
    guard pthread_mutex_init(lock, nil) == 0 else { fatalError("pthread_mutex_init failed") }
    value = .allocate(capacity: 1)
    value.initialize(to: initial)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    guard pthread_mutex_lock(lock) == 0 else { fatalError("pthread_mutex_lock failed") }
    defer { pthread_mutex_unlock(lock) }
    return try body(&value.pointee)
  }
}
