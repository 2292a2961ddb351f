import CoreMetrics
import Testing

@testable import ServerMetrics

@Suite("Prometheus' text format")
struct PrometheusTextSpecs {
  private static let sent = MetricSeries("sent_total", .counter, "What was \"sent\".\nAll of it.")
  private static let time = MetricSeries("time_seconds", .histogram(bounds: [0.001, 0.5]), "Time.")
  private static let rare = MetricSeries("rare_total", .counter, "Rare.", hidesUnused: true)

  private let factory = PrometheusFactory(known: [Self.sent, Self.time, Self.rare])

  /// The text without the metric that the factory itself has.
  private var text: String {
    factory.text().split(separator: "\n").filter { !$0.contains("series_refused") }.joined(separator: "\n")
  }

  @Test("a counter has its help, its type and a line for each label")
  func counters() {
    factory.counter(Self.sent, ("to", "b")).increment(by: 2)
    factory.counter(Self.sent, ("to", "a\"\\\n")).increment()
    #expect(
      text == #"""
        # HELP sent_total What was "sent".\nAll of it.
        # TYPE sent_total counter
        sent_total{to="a\"\\\n"} 1
        sent_total{to="b"} 2
        """#)
  }

  @Test("a duration is counted in each bucket that is large enough, and its bound belongs to the bucket")
  func distributions() {
    let timer = factory.timer(Self.time)
    timer.record(.milliseconds(1))
    timer.record(.milliseconds(2))
    timer.record(.seconds(3))
    #expect(
      text == """
        # HELP time_seconds Time.
        # TYPE time_seconds histogram
        time_seconds_bucket{le="0.001"} 1
        time_seconds_bucket{le="0.5"} 2
        time_seconds_bucket{le="+Inf"} 3
        time_seconds_sum 3.003
        time_seconds_count 3
        """)
  }

  @Test("two metrics with the same name and labels share a value")
  func shared() {
    factory.counter(Self.sent).increment()
    factory.counter(Self.sent).increment()
    #expect(text.hasSuffix("sent_total 2"))
  }

  @Test("a gauge goes up and down, and an unknown metric has a type and no help")
  func gauges() {
    let open = Meter(label: "open.streams", factory: factory)
    open.increment(by: 2)
    open.decrement()
    #expect(text == "# TYPE open_streams gauge\nopen_streams 1")
  }

  @Test("a metric that hides unused labels is served once it was counted")
  func hidden() {
    let rare = factory.counter(Self.rare, ("kind", "x"))
    #expect(text.isEmpty)
    rare.increment()
    #expect(text.hasSuffix(#"rare_total{kind="x"} 1"#))
  }

  @Test("series beyond the limit are counted and not kept")
  func limited() {
    for number in 1...PrometheusFactory.maximumSeries {
      factory.counter(Self.sent, ("number", "\(number)")).increment()
    }
    let lines = factory.text().split(separator: "\n")
    // One of the kept series is the count of those that were not.
    #expect(lines.count { $0.hasPrefix("sent_total") } == PrometheusFactory.maximumSeries - 1)
    #expect(lines.contains("hansard_metrics_series_refused_total 1"))
  }

  @Test("a name with another type is not kept")
  func otherType() {
    factory.counter(Self.sent).increment()
    Meter(label: Self.sent.name, factory: factory).set(7.0)
    #expect(text.hasSuffix("sent_total 1"))
  }

  @Test("a total that is kept elsewhere is served as it is, also after it began again")
  func sampled() {
    let total = SampledTotal(factory.floatingPointCounter(Self.sent))
    total.set(2)
    total.set(2.5)
    total.set(1)
    #expect(text.hasSuffix("sent_total 3.5"))
  }

  @Test("counts of many threads are complete")
  func concurrent() async {
    let (counter, meter) = (factory.counter(Self.sent), Meter(label: "a_gauge", factory: factory))
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<10_000 {
            counter.increment()
            meter.increment()
          }
        }
      }
    }
    #expect(text.contains("sent_total 80000") && text.contains("a_gauge 80000"))
  }

  @Test("names of metrics differ")
  func names() {
    #expect(Set(MetricSeries.all.map(\.name)).count == MetricSeries.all.count)
  }
}
