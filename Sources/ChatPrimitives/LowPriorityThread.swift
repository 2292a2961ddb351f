private import Foundation
private import Glibc

/// Starts threads for work that can wait, while requests cannot.
package enum LowPriorityThread {
  /// The nice value of the threads.
  private static let niceness: Int32 = 10

  /// - Parameter name: what the system shows, such as in `top -H`; at most 15 bytes.
  package static func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    let thread = Thread {
      CurrentThread.setName(name)
      // On Linux the nice value applies to the calling thread. If the call fails, the work only has a higher priority.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
      work()
    }
    thread.start()
  }
}
