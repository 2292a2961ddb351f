import Foundation
import Glibc
import NIOCore
import NIOPosix

/// The threads that send notifications. They are separate from the threads that serve requests, so that requests do not
/// wait behind notifications.
///
/// One decides what is sent next. The others have their own connections to providers: an attempt renders its notification,
/// sends it and takes the response on one thread, because each change of threads costs several microseconds.
///
/// They run until the process ends, because tasks can still be on them after push was stopped.
package final class PushThreads: Sendable {
  /// How many threads have connections.
  private static let sending = 2
  /// The nice value of the threads: notifications can wait, while requests cannot.
  private static let niceness: Int32 = 10

  /// Runs the tasks that read the outbox and decide what is sent next. They must not wait behind the attempts, because then
  /// the other threads would run out of attempts.
  let dispatching: any TaskExecutor
  /// Run the attempts: one for each thread that has connections.
  let attempts: [any TaskExecutor]
  /// For the connections: one for each of these threads.
  let loops: [any EventLoop]

  package init() {
    let all = Array(MultiThreadedEventLoopGroup(numberOfThreads: 1 + Self.sending).makeIterator())
    loops = Array(all.dropFirst())
    dispatching = Executor(loop: all[0])
    attempts = loops.map(Executor.init)
    for loop in all {
      loop.execute {
        // On Linux the nice value applies to the calling thread. If the call fails, the work only has a higher priority.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
      }
    }
  }

  /// The index of the calling thread among those that have connections; nil if the caller runs elsewhere.
  var current: Int? {
    guard let current = MultiThreadedEventLoopGroup.currentEventLoop else { return nil }
    return loops.firstIndex { $0 === current }
  }

  private final class Executor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}
