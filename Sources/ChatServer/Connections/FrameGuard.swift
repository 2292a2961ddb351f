import ChatPrimitives
import NIOCore

/// A handler behind TLS that closes an HTTP/2 connection if its client floods it with frames that request nothing. NIO
/// itself limits PING, SETTINGS, PRIORITY and RST_STREAM, but not WINDOW_UPDATE, nor frames of unknown types.
final class FrameGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private var meter = FrameMeter()
  private var budget: FrameBudget
  private var isOver = false

  init(at now: NIODeadline) {
    budget = FrameBudget(at: now.uptimeNanosecondsSinceStart)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    let frames = meter.count(unwrapInboundIn(data))
    if frames > 0, !budget.spend(frames, at: context.eventLoop.now.uptimeNanosecondsSinceStart) {
      isOver = true
      context.writeAndFlush(wrapOutboundOut(.byteBuffer(Self.goAway)), promise: nil)
      context.close(promise: nil)
      return
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // NIO writes each frame separately, some in two pieces.
    budget.earn(1)
    context.write(data, promise: promise)
  }

  /// A GOAWAY frame (RFC 9113, section 6.8) with the error ENHANCE_YOUR_CALM.
  private static let goAway = ByteBuffer(bytes: [
    0, 0, 8, 0x7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0xb,
  ])
}

@available(*, unavailable)
extension FrameGuard: Sendable {}
