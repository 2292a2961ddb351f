import NIOCore

/// Closes a connection, or an HTTP/2 stream, on which nothing was received or sent for a while. This includes a client
/// that does not read its response, for which Hummingbird's own idle timeout would wait. It must be behind an
/// `IdleStateHandler`, which notices outgoing data only piece by piece. So while bytes wait on the connection, only
/// their pace counts.
final class StalledConnections: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny
  typealias InboundOut = NIOAny

  /// How long a connection may be idle.
  static let timeout = TimeAmount.seconds(60)

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is IdleStateHandler.IdleStateEvent else {
      context.fireUserInboundEventTriggered(event)
      return
    }
    if SlowReaderGuard.of(context)?.isPacing != true { context.close(promise: nil) }
  }
}
