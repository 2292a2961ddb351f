import CoreMetrics
import HummingbirdCore
import Logging
import ServerMetrics

/// Limits the open connections, and counts them.
struct CountedConnections: AvailableConnectionsDelegate {
  private var limit: MaximumAvailableConnections
  private let open: Meter

  init(maximum: Int, _ factory: any MetricsFactory, logger: Logger) {
    limit = .maximum(maximum, logger: logger)
    open = factory.meter(.connections)
  }

  mutating func connectionOpened() {
    limit.connectionOpened()
    open.increment()
  }

  mutating func connectionClosed() {
    limit.connectionClosed()
    open.decrement()
  }

  func isAcceptingNewConnections() -> Bool { limit.isAcceptingNewConnections() }
}
