import ChatPrimitives
import Foundation
import NIOCore

/// A handler at the front of a connection's pipeline, before TLS. It resets the connection if its client reads what
/// waits for it too slowly, or not at all.
///
/// It counts the bytes that the system has taken and the bytes that arrive, because a client may send everything before
/// it reads anything. The streams of an HTTP/2 connection are counted together.
final class SlowReaderGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// Nil if responses have no minimum rate.
  private var pace: SlowReaderPace?
  /// The bytes that waited at the last count, and the bytes that were written and received since then.
  private var waited = 0
  private var written = 0
  private var received = 0
  /// Scheduled while bytes wait.
  private var timer: Scheduled<Void>?

  init(_ settings: ConnectionSettings) {
    pace = settings.responseBytesPerSecond > 0 ? SlowReaderPace(settings) : nil
  }

  /// The guard of the connection to which a pipeline belongs, directly or as an HTTP/2 stream of it.
  static func of(_ context: ChannelHandlerContext) -> SlowReaderGuard? {
    (try? context.pipeline.syncOperations.handler(type: SlowReaderGuard.self))
      ?? (try? context.channel.parent?.pipeline.syncOperations.handler(type: SlowReaderGuard.self))
  }

  /// Limits how many unsent bytes the system buffers. Otherwise it would accept megabytes that nobody reads.
  static func boundUnsent(of channel: any Channel) throws {
    let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT))
    try channel.syncOptions?.setOption(option, value: SocketOptionValue(Limits.unsentBytes))
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if pace != nil {
      // All waiting bytes have been taken since the last count, so the timer is not needed.
      if timer != nil, Self.waiting(context) == 0 { stop() }
      written += unwrapOutboundIn(data).readableBytes
    }
    context.write(data, promise: promise)
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    // The system takes most responses at once, so they need neither a timer nor the clock.
    guard pace != nil, timer == nil, Self.waiting(context) > 0 else { return }
    pace?.began(at: context.eventLoop.now.uptimeNanosecondsSinceStart)
    check(context)
  }

  /// Whether bytes waited at the last count, so that the minimum rate applies.
  var isPacing: Bool { timer != nil }

  private static func waiting(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  private func check(_ context: ChannelHandlerContext) {
    timer = nil
    guard var pace else { return }
    let now = context.eventLoop.now.uptimeNanosecondsSinceStart
    let waiting = Self.waiting(context)
    pace.noteMoved(waited + written - waiting + received, at: now)
    (waited, written, received) = (waiting, 0, 0)
    self.pace = pace
    guard waiting > 0 else { return }
    if pace.deadline <= now {
      reset(context)
    } else {
      let deadline = NIODeadline.uptimeNanoseconds(pace.deadline)
      timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.check(context) }
    }
  }

  /// Closes with a reset. Otherwise the system would keep the bytes that it has taken for as long as the client likes.
  private func reset(_ context: ChannelHandlerContext) {
    _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    context.close(promise: nil)
  }

  private func stop() {
    timer?.cancel()
    timer = nil
  }
}

@available(*, unavailable)
extension SlowReaderGuard: Sendable {}
