import Foundation
import Glibc
import NIOCore
import NIOPosix

/// The threads that send notifications. They are not event loops that serve requests, because a request would wait there
/// behind all notifications that are ready.
///
/// Each has its own connections to providers. An attempt renders its notification, sends it and takes the response on one
/// thread, because each change of threads costs several microseconds.
///
/// They run until the process ends, because tasks can still be on them after push was stopped.
package final class PushThreads: Sendable {
  private static let count = 2
  /// The nice value of the threads: notifications can wait, while requests cannot.
  private static let niceness: Int32 = 10

  /// For the connections to providers: one for each thread.
  let loops: [any EventLoop]
  /// Run the tasks that decide what is sent next, render and send it: one for each thread.
  let tasks: [any TaskExecutor]

  package init() {
    loops = Array(MultiThreadedEventLoopGroup(numberOfThreads: Self.count).makeIterator())
    tasks = loops.map(Executor.init)
    for loop in loops {
      loop.execute {
        // On Linux the nice value applies to the calling thread. If the call fails, the work only has a higher priority.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
      }
    }
  }

  /// The index of the calling thread; nil if the caller runs elsewhere.
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
