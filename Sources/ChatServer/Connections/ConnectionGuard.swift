import NIOCore

/// A handler at the front of a connection's pipeline, before TLS. It closes the connection if no complete request head
/// arrives in time: if a handshake is never finished, or if a client sends a head too slowly (known as Slowloris).
///
/// It sees only bytes; the `RequestGuard` behind the decoder tells it what they were.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny
  typealias InboundOut = NIOAny

  private enum State {
    /// Nothing has arrived yet.
    case silent
    /// Nothing has arrived since the previous request; the idle timeout of the connection applies.
    case idle
    /// Bytes of a head are arriving.
    case head(until: NIODeadline)
    /// A head is complete. The bytes that follow are its body, which has its own minimum rate.
    case request
    /// HTTP/2 with at least one stream opened: each stream is guarded separately, and a connection without streams is
    /// idle.
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

  // MARK: Reports from the request guard

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
