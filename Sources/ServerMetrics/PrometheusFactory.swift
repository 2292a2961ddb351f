package import CoreMetrics
import Synchronization

/// Keeps metrics in memory and serves them in Prometheus' text format, version 0.0.4.
///
/// Its lock is taken only when a metric is created and when all are read. A value is changed by an atomic operation.
package final class PrometheusFactory: MetricsFactory {
  /// The maximum number of series, each with its own labels. Further ones are counted and not kept, so that a mistake in a
  /// label does not fill the memory. The server has about four thousand.
  package static let maximumSeries = 16_384

  /// A name and the values of its labels.
  struct Key: Hashable {
    let name: String
    /// As they are printed, without the braces.
    let labels: String

    init(_ label: String, _ dimensions: [(String, String)]) {
      name = PrometheusText.name(label)
      labels = PrometheusText.labels(dimensions)
    }
  }

  enum Value {
    case count(AtomicCount)
    case total(AtomicNumber)
    case gauge(AtomicNumber)
    case distribution(Distribution)
  }

  /// By name.
  private let known: [String: MetricSeries]
  private let values = Mutex<[Key: Value]>([:])
  private let refused = AtomicCount()

  /// - Parameter known: descriptions of metrics. A metric that is not among them is served without a description.
  package init(known: [MetricSeries] = MetricSeries.all) {
    self.known = Dictionary(known.map { ($0.name, $0) }) { first, _ in first }
    values.withLock { $0[Key(MetricSeries.seriesRefused.name, [])] = .count(refused) }
  }

  /// All values now, in Prometheus' text format, ordered by name and labels.
  package func text() -> String {
    var text = PrometheusText()
    let sorted = values.withLock { $0 }.sorted { ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels) }
    for (key, value) in sorted { text.add(key, value, known[key.name]) }
    return text.text
  }

  /// The value of that name and labels, which is created if there is none; nil if there are too many, or if it has
  /// another type.
  private func value<Kept>(
    _ label: String, _ dimensions: [(String, String)], make: () -> Value, as cast: (Value) -> Kept?
  ) -> Kept? {
    let key = Key(label, dimensions)
    let found: Value? = values.withLock { values in
      if let value = values[key] { return value }
      guard values.count < Self.maximumSeries else { return nil }
      let value = make()
      values[key] = value
      return value
    }
    let kept = found.flatMap(cast)
    if kept == nil { refused.increment(by: 1) }
    return kept
  }

  private func bounds(_ label: String) -> [Double] {
    if case .histogram(let bounds) = known[label]?.kind { return bounds }
    return Distribution.defaultBounds
  }

  private func distribution(
    _ label: String, _ dimensions: [(String, String)], unit: Double
  ) -> Distribution? {
    value(label, dimensions) {
      .distribution(Distribution(bounds: bounds(label), unit: unit))
    } as: {
      if case .distribution(let value) = $0 { value } else { nil }
    }
  }

  private func gauge(_ label: String, _ dimensions: [(String, String)]) -> AtomicNumber? {
    value(label, dimensions) {
      .gauge(AtomicNumber())
    } as: {
      if case .gauge(let value) = $0 { value } else { nil }
    }
  }

  // MARK: MetricsFactory

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    value(label, dimensions) {
      .count(AtomicCount())
    } as: {
      if case .count(let value) = $0 { value } else { nil }
    } ?? NOOPMetricsHandler.instance
  }

  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    value(label, dimensions) {
      .total(AtomicNumber())
    } as: {
      if case .total(let value) = $0 { value } else { nil }
    } ?? NOOPMetricsHandler.instance
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    gauge(label, dimensions) ?? NOOPMetricsHandler.instance
  }

  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    guard aggregate else { return gauge(label, dimensions) ?? NOOPMetricsHandler.instance }
    return distribution(label, dimensions, unit: 1) ?? NOOPMetricsHandler.instance
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    distribution(label, dimensions, unit: Distribution.nanosecond) ?? NOOPMetricsHandler.instance
  }

  /// Nothing is destroyed: two metrics with the same name and labels share a value.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
}
