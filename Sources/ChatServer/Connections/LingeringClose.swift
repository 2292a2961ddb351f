import NIOCore

/// The first handler of a connection that is being closed: the server has sent everything, and discards what still
/// arrives. If both directions were closed at once, the system would reset the connection because of bytes that were not
/// read, and the client could lose the end of what it was sent.
final class LingeringClose: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  /// How long a connection that has been ended still accepts bytes before it is closed.
  static let time = TimeAmount.seconds(1)
  /// How long the client may take to read what was sent before.
  private static let patience = StalledConnections.timeout

  /// Closes the connection when everything is written.
  static func begin(_ context: ChannelHandlerContext) {
    let channel = context.channel
    guard (try? channel.pipeline.syncOperations.addHandler(LingeringClose(), position: .first)) != nil else { return }
    context.flush()
    let written = context.eventLoop.makePromise(of: Void.self)
    context.close(mode: .output, promise: written)
    written.futureResult.whenComplete { _ in
      channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
    let limit = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in limit.cancel() }
  }

  // Where the channel does not read by itself, nobody behind this handler asks for more.

  func handlerAdded(context: ChannelHandlerContext) { context.read() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    context.read()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}

@available(*, unavailable)
extension LingeringClose: Sendable {}
