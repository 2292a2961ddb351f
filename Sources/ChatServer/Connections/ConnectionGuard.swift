import NIOCore

/// Stands before everything else in a connection's pipeline, TLS included, and closes it when no whole request head comes
/// out of its bytes in time: a handshake that is never finished, or a head that drips (known as Slowloris).
///
/// It sees bytes only; the `RequestGuard` behind the decoder tells it what they were.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny
  typealias InboundOut = NIOAny

  private enum State {
    /// Nothing has come yet.
    case silent
    /// Nothing has come since the request before; the idle timeout of the connection counts.
    case idle
    /// Bytes of a head come.
    case head(until: NIODeadline)
    /// A head is there; what comes is its body, which has a pace of its own.
    case request
    /// HTTP/2, past its first request: streams are looked after one by one, and a connection without any is idle.
    case multiplexed
  }

  private let patience: TimeAmount
  private var state = State.silent
  private var timer: Scheduled<Void>?
  /// When the timer will fire.
  private var nextLook = NIODeadline.distantFuture

  init(_ settings: ConnectionSettings) {
    patience = .seconds(Int64(settings.headSeconds))
  }

  func handlerAdded(context: ChannelHandlerContext) {
    // Also a connection that brings nothing at all, for which TLS would wait.
    schedule(context.eventLoop.now + StalledConnections.patience, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch state {
    case .silent, .idle: state = .head(until: context.eventLoop.now + patience)
    case .head, .request, .multiplexed: break
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // A head that came whole with its first byte is past this already, and costs no timer.
    if case .head(let deadline) = state, nextLook > deadline { schedule(deadline, context) }
    context.fireChannelReadComplete()
  }

  // MARK: What the bytes were

  func headCame() {
    if case .multiplexed = state { return }
    state = .request
  }

  func requestCame() {
    if case .multiplexed = state { return }
    state = .idle
  }

  func streamOpened() { state = .multiplexed }

  // MARK: Time

  private func schedule(_ deadline: NIODeadline, _ context: ChannelHandlerContext) {
    timer?.cancel()
    nextLook = deadline
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.look(context) }
  }

  private func look(_ context: ChannelHandlerContext) {
    stop()
    switch state {
    case .silent: context.close(promise: nil)
    case .head(let deadline):
      if deadline <= context.eventLoop.now { context.close(promise: nil) } else { schedule(deadline, context) }
    case .idle, .request, .multiplexed: break
    }
  }

  private func stop() {
    timer?.cancel()
    timer = nil
    nextLook = .distantFuture
  }
}

@available(*, unavailable)
extension ConnectionGuard: Sendable {}
