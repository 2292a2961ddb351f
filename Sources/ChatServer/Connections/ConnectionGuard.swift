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
    /// A WebSocket: it has its own pings and timeouts.
    case stream
  }

  private let headTimeout: TimeAmount
  /// Nil if Hummingbird cannot let go of the connection.
  private let channel: DetachableChannel?
  private var state = State.silent
  private var timer: Scheduled<Void>?
  /// When the timer will fire.
  private var nextCheck = NIODeadline.distantFuture

  init(_ settings: ConnectionSettings, _ channel: DetachableChannel? = nil) {
    headTimeout = .seconds(Int64(settings.headSeconds))
    self.channel = channel
  }

  func handlerAdded(context: ChannelHandlerContext) {
    // This also covers a connection that sends nothing at all, for which TLS would wait.
    schedule(context.eventLoop.now + StalledConnections.timeout, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch state {
    case .silent, .idle: state = .head(until: context.eventLoop.now + headTimeout)
    case .head, .request, .multiplexed, .stream: break
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // If the head was complete with its first byte, the state has already changed and no timer is needed.
    if case .head(let deadline) = state, nextCheck > deadline { schedule(deadline, context) }
    context.fireChannelReadComplete()
  }

  // MARK: Reports from the request guard

  func headReceived() {
    if case .multiplexed = state { return }
    state = .request
  }

  func requestReceived() {
    if case .multiplexed = state { return }
    state = .idle
  }

  func streamOpened() { state = .multiplexed }

  /// Nothing but a stream follows on this connection.
  /// - Returns: whether it was detached.
  func becomeStream() -> Bool {
    state = .stream
    stop()
    channel?.detach()
    return channel != nil
  }

  // MARK: Time

  private func schedule(_ deadline: NIODeadline, _ context: ChannelHandlerContext) {
    timer?.cancel()
    nextCheck = deadline
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.check(context) }
  }

  private func check(_ context: ChannelHandlerContext) {
    stop()
    switch state {
    case .silent: context.close(promise: nil)
    case .head(let deadline):
      if deadline <= context.eventLoop.now { context.close(promise: nil) } else { schedule(deadline, context) }
    case .idle, .request, .multiplexed, .stream: break
    }
  }

  private func stop() {
    timer?.cancel()
    timer = nil
    nextCheck = .distantFuture
  }
}

@available(*, unavailable)
extension ConnectionGuard: Sendable {}
