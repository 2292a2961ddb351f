import Dispatch
import Synchronization

/// Many runs with consecutive seeds on several threads.
package final class SimulationSweep: Sendable {
  /// The number of runs between two accesses to the shared counters.
  private static let batch = 16

  private struct Total {
    var outcome = SimulationOutcome()
    var failure: SimulationFailure?
  }

  private let firstSeed: UInt64
  private let points: Int
  private let taken = Atomic<Int>(0)
  private let done = Atomic<Int>(0)
  private let mustStop = Atomic<Bool>(false)
  private let total = Mutex(Total())

  package init(firstSeed: UInt64, points: Int) {
    self.firstSeed = firstSeed
    self.points = points
  }

  /// The number of completed runs.
  package var pointsDone: Int { done.load(ordering: .relaxed) }

  /// Runs all seeds. Returns when they are done, or soon after one has failed.
  /// - Throws: the failure with the lowest seed of those found.
  package func run(threads: Int) throws(SimulationFailure) -> SimulationOutcome {
    DispatchQueue.concurrentPerform(iterations: max(1, threads)) { _ in work() }
    let result = total.withLock { $0 }
    if let failure = result.failure { throw failure }
    return result.outcome
  }

  private func work() {
    var own = SimulationOutcome()
    defer { total.withLock { $0.outcome.add(own) } }
    while !mustStop.load(ordering: .relaxed) {
      let start = taken.add(Self.batch, ordering: .relaxed).oldValue
      guard start < points else { return }
      for number in start..<min(points, start + Self.batch) {
        do {
          own.add(try CrashSimulation.run(seed: firstSeed &+ UInt64(number)))
          done.add(1, ordering: .relaxed)
        } catch {
          mustStop.store(true, ordering: .relaxed)
          total.withLock { total in
            if total.failure.map({ error.seed < $0.seed }) ?? true { total.failure = error }
          }
          return
        }
      }
    }
  }
}
