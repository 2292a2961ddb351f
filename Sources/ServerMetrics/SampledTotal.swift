package import CoreMetrics
import Synchronization

/// A counter of a total that is kept elsewhere.
package final class SampledTotal: Sendable {
  private let counter: FloatingPointCounter
  private let last = Mutex(0.0)

  package init(_ counter: FloatingPointCounter) {
    self.counter = counter
  }

  /// - Parameter total: since the start of the process. If it is smaller than before, it began again from 0.
  package func set(_ total: Double) {
    let difference = last.withLock { last in
      defer { last = total }
      return total >= last ? total - last : total
    }
    if difference > 0 { counter.increment(by: difference) }
  }
}
