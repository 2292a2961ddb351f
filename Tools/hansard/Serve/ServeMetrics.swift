import ChatServer
import CoreMetrics
import EventLog
import Logging
import NIOPosix
import ServerMetrics

/// Connects the metrics of the modules with their listener. To send metrics to another backend, put its factory here.
struct ServeMetrics: Sendable {
  /// Where metrics are kept; nothing is kept if they are off.
  let factory: any MetricsFactory
  /// Nil if metrics are off.
  let endpoint: MetricsEndpoint?
  private let isOpen: Meter

  init(_ settings: MetricsSettings) {
    guard let port = settings.port else {
      (factory, endpoint) = (NOOPMetricsHandler.instance, nil)
      isOpen = factory.meter(.isOpen)
      return
    }
    let exporter = MetricsExporter()
    factory = exporter.factory
    endpoint = MetricsEndpoint(host: settings.host, port: port, exporter: exporter)
    isOpen = factory.meter(.isOpen)
    isOpen.set(0.0)
    let process = ProcessMetrics(factory)
    exporter.add { try? await NIOThreadPool.singleton.runIfActive { process.sample() } }
  }

  /// The server is open now. Its status is sampled before each scrape.
  func sample(_ status: StatusMetrics) {
    isOpen.set(1.0)
    endpoint?.exporter.add { await status.sample() }
  }

  /// The options of the log, which knows no metrics.
  func logOptions(_ sealing: LateReceiver, _ logger: Logger) -> LogOptions {
    let failures = factory.counter(.sealFailures)
    var options = LogOptions(onSealingFailure: { error in
      failures.increment()
      logger.warning(
        "a full segment was not sealed; the server tries again with the next one", metadata: ["error": "\(error)"])
    })
    let (syncs, seals) = (factory.timer(.syncSeconds), factory.timer(.sealSeconds))
    options.onSync = { syncs.record($0) }
    options.onSealed = { duration in
      seals.record(duration)
      sealing.call()
    }
    return options
  }
}
