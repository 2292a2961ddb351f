package import CoreMetrics
import Synchronization

/// Makes the text that a scrape gets. Values that the server keeps anyway are read only then.
package final class MetricsExporter: Sendable {
  package typealias Sample = @Sendable () async -> Void

  package static let contentType = PrometheusText.contentType

  private let prometheus = PrometheusFactory()
  private let samples = Mutex<[Sample]>([])

  package init() {}

  /// Where metrics are created.
  package var factory: any MetricsFactory { prometheus }

  /// Calls `sample` before each scrape, to set what is not kept up to date.
  package func add(_ sample: @escaping Sample) {
    samples.withLock { $0.append(sample) }
  }

  package func text() async -> String {
    for sample in samples.withLock({ $0 }) { await sample() }
    return prometheus.text()
  }
}
