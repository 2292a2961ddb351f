import CoreMetrics
import NIOCore
import NIOTLS
import ServerMetrics

/// Counts handshakes of TLS.
struct HandshakeMetrics: Sendable {
  let completed: Counter
  let failed: Counter

  init(_ factory: any MetricsFactory) {
    completed = factory.counter(.handshakes, ("result", "completed"))
    failed = factory.counter(.handshakes, ("result", "failed"))
  }
}

/// A handler behind TLS that counts the handshake of its connection. A connection that ends before its handshake is
/// complete counts as a failed one.
final class HandshakeMeter: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let metrics: HandshakeMetrics
  private var isCounted = false

  init(_ metrics: HandshakeMetrics) {
    self.metrics = metrics
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { count(metrics.completed) }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    count(metrics.failed)
    context.fireChannelInactive()
  }

  private func count(_ counter: Counter) {
    guard !isCounted else { return }
    isCounted = true
    counter.increment()
  }
}

@available(*, unavailable)
extension HandshakeMeter: Sendable {}
