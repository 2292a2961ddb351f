import NIOPosix

/// Runs the tasks that prefer it on the threads of a pool. These threads serve no connections, so a task may take long
/// there.
final class ThreadPoolExecutor: TaskExecutor {
  private let pool: NIOThreadPool

  /// - Parameter pool: must not be shut down while a task prefers this executor.
  init(_ pool: NIOThreadPool) {
    self.pool = pool
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    pool.submit { _ in job.runSynchronously(on: executor) }
  }
}
