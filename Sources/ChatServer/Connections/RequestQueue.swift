import DequeModule
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// A handler at the end of a connection's pipeline that passes on one request at a time. Requests that arrive before an earlier
/// one was answered (pipelining, RFC 9112, section 9.3.2) wait for its response, and then for their turn (`RequestTurns`).
/// Meanwhile nothing more is read.
final class RequestQueue: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let loops: LoopTurns
  private var context: ChannelHandlerContext?
  /// Whether a request was passed on and its response has not been sent.
  private var isInFlight = false
  /// The parts of the requests behind it, as many as the decoder found in what was read at once.
  private var waiting = Deque<HTTPRequestPart>()
  /// What came behind the requests that wait.
  private var error: (any Error)?
  private var isInputClosed = false
  private var hasHeldRead = false

  init(_ loops: LoopTurns) {
    self.loops = loops
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    waiting = []
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    guard waiting.isEmpty else {
      waiting.append(part)
      return
    }
    if case .head = part {
      guard !isInFlight else {
        waiting.append(part)
        return
      }
      isInFlight = true
    }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if waiting.isEmpty { context.fireErrorCaught(error) } else { self.error = error }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed, !waiting.isEmpty {
      isInputClosed = true
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  /// Passes on the next request, or as much of it as has arrived.
  private func passNext() {
    guard let context, !isInFlight, let head = waiting.popFirst() else { return }
    isInFlight = true
    context.fireChannelRead(wrapInboundOut(head))
    while let part = waiting.first {
      if case .head = part { break }
      waiting.removeFirst()
      context.fireChannelRead(wrapInboundOut(part))
    }
    context.fireChannelReadComplete()
    if waiting.isEmpty { passRest(context) }
  }

  /// Passes on what came behind the requests.
  private func passRest(_ context: ChannelHandlerContext) {
    if let error {
      self.error = nil
      context.fireErrorCaught(error)
    }
    if isInputClosed {
      isInputClosed = false
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
    if hasHeldRead {
      hasHeldRead = false
      context.read()
    }
  }

  // MARK: Responses

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .end = unwrapOutboundIn(data) else {
      context.write(data, promise: promise)
      return
    }
    context.write(data, promise: promise)
    isInFlight = false
    guard !waiting.isEmpty else { return }
    loops.turns(of: context.eventLoop).take { self.passNext() }
  }

  // MARK: Back pressure

  func read(context: ChannelHandlerContext) {
    if waiting.isEmpty { context.read() } else { hasHeldRead = true }
  }
}

@available(*, unavailable)
extension RequestQueue: Sendable {}
