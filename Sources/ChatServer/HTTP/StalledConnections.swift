import NIOCore

/// Closes a connection, or a stream of HTTP/2, on which nothing has come or gone for a while: also one whose client does
/// not take its answer, for which Hummingbird's own idle timeout waits. Stands behind an `IdleStateHandler` that notices,
/// which sees what goes piece by piece only; so, while bytes wait on the connection, their pace alone counts.
final class StalledConnections: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny
  typealias InboundOut = NIOAny

  /// How long a connection may stand still.
  static let patience = TimeAmount.seconds(60)

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is IdleStateHandler.IdleStateEvent else {
      context.fireUserInboundEventTriggered(event)
      return
    }
    if SlowReaderGuard.of(context)?.isPacing != true { context.close(promise: nil) }
  }
}
