import NIOCore
import NIOHTTPTypes

/// Writes the body of an event stream. It is behind the `StreamTakeover`. If the connection was detached, it also ends the
/// response, and nothing else is read or written on that connection.
final class EventStreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private var context: ChannelHandlerContext?
  private var isDetached = false
  private var isEnded = false
  private var closesOfTask = ClosesOfTask()

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// Detaches the connection from Hummingbird, whose task ends when the input is closed.
  func detach() throws {
    guard let context else { throw ChannelError.ioOnClosedChannel }
    let pipeline = context.pipeline.syncOperations
    guard try pipeline.handler(type: ConnectionGuard.self).becomeStream() else { return }
    isDetached = true
    closesOfTask.expect()
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  // MARK: What the stream does

  func send(_ event: ByteBuffer) {
    guard let context, !isEnded else { return }
    context.writeAndFlush(wrapOutboundOut(.body(event)), promise: nil)
  }

  /// Ends a detached response and its connection.
  /// - Parameter last: the last event; nil if the client is gone.
  func finish(_ last: ByteBuffer?) {
    guard let context, !isEnded else { return }
    isEnded = true
    guard let last else {
      context.close(promise: nil)
      return
    }
    context.write(wrapOutboundOut(.body(last)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    LingeringClose.begin(context)
    context.read()
  }

  func leave() {
    context?.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  // MARK: The rest of the connection

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !isDetached { context.fireChannelRead(data) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    // What arrives after the end is discarded.
    if isEnded { context.read() }
  }

  /// Hummingbird may still respond to a request that the client sent behind this one.
  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if isDetached {
      promise?.fail(ChannelError.ioOnClosedChannel)
    } else {
      context.write(data, promise: promise)
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if closesOfTask.includes(mode) { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
  }
}

@available(*, unavailable)
extension EventStreamHandler: Sendable {}
