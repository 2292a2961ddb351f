import CoreMetrics
import Testing

@testable import ServerMetrics

@Suite("Scrapes")
struct ScrapeSpecs {
  @Test("scrapes at the same time count a total once")
  func concurrentScrapes() async {
    let exporter = MetricsExporter()
    let total = SampledTotal(exporter.factory.floatingPointCounter(.processorSeconds))
    let readings = Readings()
    exporter.add {
      let reading = await readings.next()
      // A later scrape overtakes an earlier one.
      for _ in 0..<(reading.isMultiple(of: 2) ? 1 : 20) { await Task.yield() }
      total.set(Double(reading))
    }
    await withTaskGroup { scrapes in
      for _ in 0..<50 { scrapes.addTask { _ = await exporter.text() } }
    }
    let text = await exporter.text()
    let last = await readings.count
    #expect(text.contains("\nprocess_cpu_seconds_total \(last)\n"))
  }

  private actor Readings {
    private(set) var count = 0

    func next() -> Int {
      count += 1
      return count
    }
  }
}
