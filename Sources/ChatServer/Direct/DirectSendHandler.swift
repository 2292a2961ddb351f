import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes

/// The last handler in front of Hummingbird's channel. It sends plain messages through the `DirectPath`, one at a time, and
/// passes every other request on.
///
/// While a message is with the writer, what arrives is kept, and nothing more is read once something is kept.
final class DirectSendHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// A request that the router may get after all.
  private struct Held {
    let head: HTTPRequest
    var send: DirectPath.Send
    var body = ByteBuffer()
  }

  private enum State {
    /// The next part is the head of a request, or belongs to a request in the router.
    case passing
    /// The body of a message is arriving.
    case collecting(Held)
    /// The writer has the message.
    case writing(Held)
  }

  /// What arrived while the writer had a message.
  private enum Kept {
    case part(HTTPRequestPart)
    case inputClosed
    case error(any Error)
  }

  private let makePath: @Sendable () -> DirectPath?
  private var path: DirectPath?
  private var inbox: DirectInbox?
  private var state = State.passing
  /// Requests that were passed on and whose responses are not complete.
  private var routedRequests = 0
  /// Set when the connection ends with a request that the router has, or has had.
  private var isEnding = false
  private var kept = CircularBuffer<Kept>(initialCapacity: 0)
  private var hasHeldRead = false
  private var context: ChannelHandlerContext?
  private var peer: NetworkAddress?
  private var lastUser: RememberedUser?

  /// - Parameter path: returns nil while the service is being opened.
  init(_ path: @escaping @Sendable () -> DirectPath?) {
    makePath = path
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    peer = context.channel.remoteAddress.flatMap { NetworkAddress($0) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    kept.removeAll()
    if case .collecting(let held) = state {
      state = .passing
      path?.endWithoutResponse(held.send)
    }
  }

  private var isWriting: Bool {
    if case .writing = state { true } else { false }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isWriting { kept.append(.part(unwrapInboundIn(data))) } else { take(unwrapInboundIn(data), context) }
  }

  private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
    switch (state, part) {
    case (.passing, .head(let head)):
      if let send = begin(head) {
        state = .collecting(Held(head: head, send: send))
      } else {
        passOn(head, context)
      }
    case (.collecting(var held), .body(let piece)):
      // Otherwise the buffer would have two owners, and would be copied.
      state = .passing
      collect(piece, &held, context)
    case (.collecting(let held), .end(let trailers)):
      state = .passing
      submit(held, trailers, context)
    case (.passing, _), (.collecting, .head), (.writing, _): context.fireChannelRead(wrapInboundOut(part))
    }
  }

  private func begin(_ head: HTTPRequest) -> DirectPath.Send? {
    guard routedRequests == 0, !isEnding, let path = path ?? makePath(), let plain = PlainSendHead(head) else {
      return nil
    }
    self.path = path
    return path.begin(plain, from: peer, &lastUser)
  }

  private func passOn(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
    routedRequests += 1
    if head.headerFields[.connection]?.lowercased() == "close" { isEnding = true }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  private func collect(_ piece: ByteBuffer, _ held: inout Held, _ context: ChannelHandlerContext) {
    let isAdmitted = path?.charge(piece.readableBytes, to: held.send) == true
    // Copies the piece: a short one may be part of a long buffer, and would keep all of it in memory.
    held.body.writeImmutableBuffer(piece)
    if isAdmitted { state = .collecting(held) } else { replay(held, context) }
  }

  private func submit(_ held: Held, _ trailers: HTTPFields?, _ context: ChannelHandlerContext) {
    var held = held
    guard let path, trailers == nil else { return replay(held, trailers, context) }
    let inbox = inbox ?? path.inboxes.inbox(of: context.eventLoop)
    self.inbox = inbox
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    if path.submit(&held.send, held.body, completion: { inbox.add($0, for: handler) }) {
      state = .writing(held)
    } else {
      replay(held, nil, context)
    }
  }

  /// Leaves a request to the router, as far as it has arrived.
  private func replay(_ held: Held, _ context: ChannelHandlerContext) {
    path?.abandon(held.send)
    passOn(held.head, context)
    if held.body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(held.body))) }
  }

  /// Leaves a complete request to the router.
  private func replay(_ held: Held, _ trailers: HTTPFields?, _ context: ChannelHandlerContext) {
    replay(held, context)
    context.fireChannelRead(wrapInboundOut(.end(trailers)))
  }

  // MARK: Events

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed {
      // Hummingbird would close the connection before the response is written.
      if isWriting { return kept.append(.inputClosed) }
      replayIfCollecting(context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if isWriting { return kept.append(.error(error)) }
    replayIfCollecting(context)
    context.fireErrorCaught(error)
  }

  private func replayIfCollecting(_ context: ChannelHandlerContext) {
    guard case .collecting(let held) = state else { return }
    state = .passing
    replay(held, context)
  }

  // MARK: Replies

  /// The writer has replied.
  func complete(_ reply: DirectInbox.Reply) {
    guard case .writing(let held) = state, let path else { return }
    state = .passing
    let response = path.response(to: held.send, reply)
    guard let context, context.channel.isActive else {
      if response == nil { path.endWithoutResponse(held.send) }
      return
    }
    if let response {
      context.write(wrapOutboundOut(.head(response.head)), promise: nil)
      context.write(wrapOutboundOut(.body(response.body)), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      if kept.isEmpty, !hasHeldRead { return }
    } else {
      replay(held, nil, context)
      context.fireChannelReadComplete()
    }
    takeKept()
  }

  private func takeKept() {
    var hasPassed = false
    while !isWriting, let context, let next = kept.popFirst() {
      hasPassed = true
      switch next {
      case .part(let part): take(part, context)
      case .inputClosed: userInboundEventTriggered(context: context, event: ChannelEvent.inputClosed)
      case .error(let error): errorCaught(context: context, error: error)
      }
    }
    guard let context else { return }
    if hasPassed { context.fireChannelReadComplete() }
    if hasHeldRead, kept.isEmpty {
      hasHeldRead = false
      context.read()
    }
  }

  func read(context: ChannelHandlerContext) {
    if isWriting, !kept.isEmpty { hasHeldRead = true } else { context.read() }
  }

  // MARK: Responses of the router

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let response):
      if response.headerFields[.connection]?.lowercased() == "close" { isEnding = true }
    case .body: break
    case .end: routedRequests -= 1
    }
    context.write(data, promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    isEnding = true
    context.close(mode: mode, promise: promise)
  }
}

@available(*, unavailable)
extension DirectSendHandler: Sendable {}
