import CoreMetrics
import ServerMetrics

/// The transports of live streams.
enum StreamTransport: String, Sendable, CaseIterable {
  case events = "sse"
  case webSocket = "websocket"
  case socketIO = "socketio"
}

/// Counts live streams and what they send.
struct StreamMetrics: Sendable {
  private struct Meters: Sendable {
    let open: Meter
    let items: Counter
  }

  private let factory: any MetricsFactory
  private let meters: [StreamTransport: Meters]

  init(_ factory: any MetricsFactory) {
    self.factory = factory
    let meters = StreamTransport.allCases.map { transport in
      let label = ("transport", transport.rawValue)
      return (
        transport, Meters(open: factory.meter(.streams, label), items: factory.counter(.streamItems, label))
      )
    }
    self.meters = Dictionary(uniqueKeysWithValues: meters)
  }

  func began(_ transport: StreamTransport) { meters[transport]?.open.increment() }

  func sent(items: Int, _ transport: StreamTransport) { meters[transport]?.items.increment(by: Int64(items)) }

  /// - Parameter code: what the client is told, which is one of the codes of the contract; nil if its connection is closed.
  func ended(_ transport: StreamTransport, because code: String?) {
    meters[transport]?.open.decrement()
    let reason = code ?? "closed"
    factory.counter(.streamsEnded, ("transport", transport.rawValue), ("reason", reason)).increment()
  }
}
