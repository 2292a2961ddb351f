import Foundation
import Glibc
import NIOCore
import NIOPosix

/// The thread that renders and sends notifications. It is not one of the event loops that serve requests, because a request
/// would wait there behind all notifications that are ready.
enum PushEventLoop {
  /// The nice value of the thread: notifications can wait, while requests cannot.
  private static let niceness: Int32 = 10

  /// For the connections to providers.
  static let group: MultiThreadedEventLoopGroup = {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    group.next().execute {
      // On Linux the nice value applies to the calling thread. If the call fails, the work only has a higher priority.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }
    return group
  }()

  /// Runs tasks on the thread.
  static let executor: any TaskExecutor = Executor(loop: group.next())

  private final class Executor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}
