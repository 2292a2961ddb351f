package import CoreMetrics
import ServerMetrics

/// What the writer measures.
package struct CommitMetrics: Sendable {
  private let batchCommands: Recorder
  private let batchBytes: Recorder
  private let commitTime: Timer

  /// - Parameter factory: where the metrics are kept. The default keeps nothing.
  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    batchCommands = factory.recorder(.batchCommands)
    batchBytes = factory.recorder(.batchBytes)
    commitTime = factory.timer(.commitSeconds)
  }

  /// A batch of commands is about to be written.
  func began(commands: Int) { batchCommands.record(commands) }

  /// The block of a batch is durable.
  /// - Parameter bytes: of its records, before compression.
  func committed(bytes: Int, since start: ContinuousClock.Instant) {
    commitTime.record(since: start)
    batchBytes.record(bytes)
  }
}
