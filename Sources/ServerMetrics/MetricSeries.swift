package import CoreMetrics

/// One metric: its name, what it means, and the form in which it is served.
package struct MetricSeries: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// A total since the start of the process.
    case counter
    /// A value now.
    case gauge
    /// Values counted by size.
    /// - Parameter bounds: the largest value of each bucket, in the unit of the name, in ascending order. Larger values have
    ///   a bucket of their own.
    case histogram(bounds: [Double])
  }

  package let name: String
  package let kind: Kind
  /// One sentence, with the unit if the name does not have it.
  package let help: String
  /// Whether it is served only for the labels for which something was counted, because most of them never occur.
  package let hidesUnused: Bool

  package init(_ name: String, _ kind: Kind, _ help: String, hidesUnused: Bool = false) {
    self.name = name
    self.kind = kind
    self.help = help
    self.hidesUnused = hidesUnused
  }
}

/// Labels must not have values that a client chooses: each value is a series that takes memory until the process ends.
extension MetricsFactory {
  package func counter(_ series: MetricSeries, _ labels: (String, String)...) -> Counter {
    Counter(label: series.name, dimensions: labels, factory: self)
  }

  package func floatingPointCounter(_ series: MetricSeries, _ labels: (String, String)...) -> FloatingPointCounter {
    FloatingPointCounter(label: series.name, dimensions: labels, factory: self)
  }

  /// A value that goes up and down, or is set.
  package func meter(_ series: MetricSeries, _ labels: (String, String)...) -> Meter {
    Meter(label: series.name, dimensions: labels, factory: self)
  }

  /// A distribution of durations.
  package func timer(_ series: MetricSeries, _ labels: (String, String)...) -> Timer {
    Timer(label: series.name, dimensions: labels, factory: self)
  }

  /// A distribution of other values.
  package func recorder(_ series: MetricSeries, _ labels: (String, String)...) -> Recorder {
    Recorder(label: series.name, dimensions: labels, aggregate: true, factory: self)
  }
}

extension Timer {
  /// Records the time since `start`.
  package func record(since start: ContinuousClock.Instant) {
    record(start.duration(to: .now))
  }

  package func record(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
