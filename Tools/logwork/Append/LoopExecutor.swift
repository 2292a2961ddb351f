import Foundation
import Synchronization

/// Runs tasks on one thread, one after the other, like an event loop.
///
/// Unchecked: `jobs`, `isSleeping` and `isOver` are accessed only while `condition` is locked.
final class LoopExecutor: TaskExecutor, @unchecked Sendable {
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []
  private var isSleeping = false
  private var isOver = false

  init() {
    let thread = Thread { [self] in
      Thread.current.name = "writers"
      run()
    }
    thread.start()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.lock()
    jobs.append(job)
    let mustWake = isSleeping
    isSleeping = false
    condition.unlock()
    if mustWake { condition.signal() }
  }

  /// Ends the thread. No task may be left.
  func stop() {
    condition.withLock { isOver = true }
    condition.signal()
  }

  private func run() {
    var taken: [UnownedJob] = []
    while true {
      taken.removeAll(keepingCapacity: true)
      condition.lock()
      while jobs.isEmpty, !isOver {
        isSleeping = true
        condition.wait()
      }
      isSleeping = false
      swap(&taken, &jobs)
      condition.unlock()
      if taken.isEmpty { return }
      for job in taken { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
