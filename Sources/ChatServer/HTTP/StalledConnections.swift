import NIOCore

/// Closes a connection on which nothing has come or gone for a while: also one whose client does not read its answer, for
/// which Hummingbird's own idle timeout waits. Stands behind an `IdleStateHandler` that notices.
final class StalledConnections: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny
  typealias InboundOut = NIOAny

  /// How long a connection may stand still.
  static let patience = TimeAmount.seconds(60)

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent {
      context.close(promise: nil)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }
}
