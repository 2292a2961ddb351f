private import Glibc

/// The calling thread.
package enum CurrentThread {
  /// Sets the name that the system shows, such as in `top -H`. The system keeps 15 bytes of it. Nothing happens if it cannot be set.
  ///
  /// `Thread.current.name` has no effect in a thread that runs before `start()` has returned, so the thread would have the name of
  /// the one that started it. Swift does not import `pthread_setname_np`.
  package static func setName(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = write(file, name, name.utf8.count)
  }
}
