import ChatPrimitives
import NIOCore

/// A handler in front of the HTTP decoder. It sends plain messages through the `DirectPath`, one at a time, and passes every
/// other byte on.
///
/// It takes a message only while no other request is being received or answered. While a message is with the writer, what
/// arrives is kept, and nothing more is read once something is kept.
final class DirectSendHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// How long the rest of a message may take. After that the handlers behind this one get what has arrived, because they
  /// know at which speed a request must arrive.
  private static let patience = TimeAmount.milliseconds(200)
  /// The handlers behind this one close a connection that is idle, and they do not see messages that take the direct path. So
  /// a message takes the other path when they have seen none for this long.
  private static let longestUnseen = TimeAmount.seconds(5)

  /// A request that the router may get after all.
  private struct Held {
    let bytes: ByteBuffer
    var send: DirectPath.Send
  }

  private enum State {
    case passing
    /// The beginning of a message has arrived, in this many pieces.
    case collecting(ByteBuffer, pieces: Int)
    /// The writer has the message.
    case writing(Held)
  }

  /// What arrived while the writer had a message.
  private enum Kept {
    case bytes(ByteBuffer)
    case event(Any)
    case error(any Error)
  }

  private let makePath: @Sendable () -> DirectPath?
  private let requests: RequestGuard
  private var path: DirectPath?
  private var inbox: DirectInbox?
  private var state = State.passing
  private var frames = RequestFrames()
  /// When the handlers behind this one last saw a request.
  private var lastSeen = NIODeadline.uptimeNanoseconds(0)
  /// Whether something was passed on since the last `channelReadComplete`.
  private var hasPassed = false
  private var isClosing = false
  /// Whether the timer for `patience` runs.
  private var isTimed = false
  private var kept = CircularBuffer<Kept>(initialCapacity: 0)
  private var hasHeldRead = false
  private var context: ChannelHandlerContext?
  private var peer: NetworkAddress?
  private var lastUser: RememberedUser?

  /// - Parameters:
  ///   - requests: the guard of the same connection, behind the decoder.
  ///   - path: returns nil while the service is being opened.
  init(_ requests: RequestGuard, _ path: @escaping @Sendable () -> DirectPath?) {
    self.requests = requests
    makePath = path
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    peer = context.channel.remoteAddress.flatMap { NetworkAddress($0) }
    lastSeen = context.eventLoop.now
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    kept.removeAll()
    if case .collecting = state { state = .passing }
  }

  private var isWriting: Bool {
    if case .writing = state { true } else { false }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    switch state {
    case .passing: take(bytes, pieces: 1, context)
    case .collecting(var collected, let pieces):
      // Otherwise the buffer would have two owners, and would be copied.
      state = .passing
      collected.writeImmutableBuffer(bytes)
      take(collected, pieces: pieces + 1, context)
    case .writing:
      kept.append(.bytes(bytes))
      // It waits for the writer, not for its client.
      requests.directRequestReceived()
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    guard hasPassed else { return }
    hasPassed = false
    context.fireChannelReadComplete()
  }

  private func take(_ bytes: ByteBuffer, pieces: Int, _ context: ChannelHandlerContext) {
    guard frames.isBetween, requests.isBetweenRequests, !isClosing,
      context.eventLoop.now - lastSeen < Self.longestUnseen
    else { return pass(bytes, context) }
    switch bytes.withUnsafeReadableBytes(PlainSend.parse) {
    case .other: pass(bytes, context)
    case .incomplete:
      if pieces < Limits.directPieces { collect(bytes, pieces, context) } else { pass(bytes, context) }
    case .complete(let request):
      guard let held = submit(request, bytes, context) else { return pass(bytes, context) }
      state = .writing(held)
      requests.directRequestReceived()
      let rest = bytes.readableBytes - request.bytes
      if rest > 0, let rest = bytes.getSlice(at: bytes.readerIndex + request.bytes, length: rest) {
        kept.prepend(.bytes(rest))
      }
    }
  }

  /// - Returns: the request, if the writer has it.
  private func submit(_ request: PlainSend, _ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Held? {
    guard let path = path ?? makePath(), let whole = bytes.getSlice(at: bytes.readerIndex, length: request.bytes) else {
      return nil
    }
    self.path = path
    guard var send = path.begin(request, of: whole, from: peer, &lastUser) else { return nil }
    let inbox = inbox ?? path.inboxes.inbox(of: context.eventLoop)
    self.inbox = inbox
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    guard path.submit(&send, whole, completion: { inbox.add($0, for: handler) }) else {
      path.abandon(send)
      return nil
    }
    return Held(bytes: whole, send: send)
  }

  private func collect(_ bytes: ByteBuffer, _ pieces: Int, _ context: ChannelHandlerContext) {
    state = .collecting(bytes, pieces: pieces)
    guard !isTimed else { return }
    isTimed = true
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
      self.isTimed = false
      self.passIfCollecting()
    }
  }

  private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    frames.pass(bytes)
    lastSeen = context.eventLoop.now
    hasPassed = true
    context.fireChannelRead(wrapInboundOut(bytes))
  }

  private func passIfCollecting() {
    guard case .collecting(let bytes, _) = state, let context else { return }
    state = .passing
    pass(bytes, context)
    channelReadComplete(context: context)
  }

  // MARK: Events

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Hummingbird would close the connection before the response is written, at the end of the input and at shutdown.
    if isWriting { return kept.append(.event(event)) }
    passIfCollecting()
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if isWriting { return kept.append(.error(error)) }
    passIfCollecting()
    context.fireErrorCaught(error)
  }

  // MARK: Replies

  /// The writer has replied.
  func complete(_ reply: DirectInbox.Reply) {
    // `exchange` moves the message out of the state; a copy would count references.
    guard isWriting, let path, case .writing(let held) = exchange(&state, with: .passing) else { return }
    let response = path.response(to: held.send, reply)
    guard let context, context.channel.isActive else {
      if response == nil { path.endWithoutResponse(held.send) }
      return
    }
    if let response {
      context.writeAndFlush(wrapOutboundOut(.byteBuffer(response)), promise: nil)
    } else {
      path.abandon(held.send)
      pass(held.bytes, context)
    }
    if !kept.isEmpty || hasHeldRead { takeKept() }
    if let context = self.context { channelReadComplete(context: context) }
  }

  private func takeKept() {
    while !isWriting, let context, let next = kept.popFirst() {
      switch next {
      case .bytes(let bytes): channelRead(context: context, data: wrapInboundOut(bytes))
      case .event(let event): userInboundEventTriggered(context: context, event: event)
      case .error(let error): errorCaught(context: context, error: error)
      }
    }
    if let context, hasHeldRead, kept.isEmpty {
      hasHeldRead = false
      context.read()
    }
  }

  func read(context: ChannelHandlerContext) {
    if isWriting, !kept.isEmpty { hasHeldRead = true } else { context.read() }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    isClosing = true
    context.close(mode: mode, promise: promise)
  }
}

@available(*, unavailable)
extension DirectSendHandler: Sendable {}
