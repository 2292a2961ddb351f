package import CoreMetrics
import Synchronization

/// Renders what a scrape gets. Values that the server keeps anyway are read only then.
package final class MetricsExporter: Sendable {
  package typealias Sample = @Sendable () async -> Void

  package static let contentType = PrometheusText.contentType

  private let prometheus = PrometheusFactory()
  private let samples = Mutex<[Sample]>([])
  /// The scrape that is running.
  private let running = Mutex<Task<String, Never>?>(nil)

  package init() {}

  /// Where metrics are created.
  package var factory: any MetricsFactory { prometheus }

  /// Calls `sample` before each scrape, to set what is not kept up to date.
  package func add(_ sample: @escaping Sample) {
    samples.withLock { $0.append(sample) }
  }

  /// The text of a scrape that begins now, or of the one that is running. Two at once would add to the same totals.
  package func text() async -> String {
    let scrape = running.withLock { running in
      if let running { return running }
      let scrape = Task { await sampled() }
      running = scrape
      return scrape
    }
    return await scrape.value
  }

  private func sampled() async -> String {
    for sample in samples.withLock({ $0 }) { await sample() }
    // The next scrape begins after this one was read.
    return running.withLock { running in
      running = nil
      return prometheus.text()
    }
  }
}
