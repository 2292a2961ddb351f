import ChatPrimitives
import Foundation
import NIOCore

/// Stands before everything else in a connection's pipeline, TLS included, and cuts the connection when its client does
/// not take fast enough what waits for it: one that reads an answer drop by drop, or not at all.
///
/// It counts bytes that the system has taken, and those that come in: a client may send everything before it reads
/// anything. The streams of HTTP/2 are looked after together.
final class SlowReaderGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// Nil where answers need no pace.
  private var pace: SlowReaderPace?
  /// Bytes that waited when they were last counted, and those that were written and have come since.
  private var waited = 0
  private var written = 0
  private var received = 0
  /// Runs while bytes wait.
  private var timer: Scheduled<Void>?

  init(_ settings: ConnectionSettings) {
    pace = settings.answerBytesPerSecond > 0 ? SlowReaderPace(settings) : nil
  }

  /// That of the connection to which a pipeline belongs, or whose stream does.
  static func of(_ context: ChannelHandlerContext) -> SlowReaderGuard? {
    (try? context.pipeline.syncOperations.handler(type: SlowReaderGuard.self))
      ?? (try? context.channel.parent?.pipeline.syncOperations.handler(type: SlowReaderGuard.self))
  }

  /// The system would take megabytes that nobody reads. Of what was not sent it takes so much at a time instead.
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
      // What waited was taken meanwhile; since when, nobody asks.
      if timer != nil, Self.waiting(context) == 0 { stop() }
      written += unwrapOutboundIn(data).readableBytes
    }
    context.write(data, promise: promise)
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    // Most answers are taken at once, which costs no timer and no look at the clock.
    guard pace != nil, timer == nil, Self.waiting(context) > 0 else { return }
    pace?.began(at: context.eventLoop.now.uptimeNanosecondsSinceStart)
    look(context)
  }

  /// Whether bytes wait, as far as was seen, so that the pace counts.
  var isPacing: Bool { timer != nil }

  private static func waiting(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  private func look(_ context: ChannelHandlerContext) {
    timer = nil
    guard var pace else { return }
    let now = context.eventLoop.now.uptimeNanosecondsSinceStart
    let waiting = Self.waiting(context)
    pace.moved(waited + written - waiting + received, at: now)
    (waited, written, received) = (waiting, 0, 0)
    self.pace = pace
    guard waiting > 0 else { return }
    if pace.deadline <= now {
      cut(context)
    } else {
      let deadline = NIODeadline.uptimeNanoseconds(pace.deadline)
      timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.look(context) }
    }
  }

  /// With a reset: the system would hold what it has taken for as long as the client likes.
  private func cut(_ context: ChannelHandlerContext) {
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
