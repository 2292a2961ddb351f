import Foundation
import Glibc
import NIOCore
import NIOPosix

/// The two threads that send notifications: one renders them, the other has the connections to providers. They are not event
/// loops that serve requests, because a request would wait there behind all notifications that are ready.
///
/// They run until the process ends, because tasks can still be on them after push was stopped.
package final class PushThreads: Sendable {
  /// The nice value of the threads: notifications can wait, while requests cannot.
  private static let niceness: Int32 = 10

  /// For the connections to providers.
  let connections: MultiThreadedEventLoopGroup
  /// Runs the tasks that decide what is sent next, and render it.
  let tasks: any TaskExecutor

  package init() {
    connections = Self.thread()
    tasks = Executor(loop: Self.thread().next())
  }

  private static func thread() -> MultiThreadedEventLoopGroup {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    group.next().execute {
      // On Linux the nice value applies to the calling thread. If the call fails, the work only has a higher priority.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }
    return group
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
