import ChatPrimitives
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import SocketProtocols

/// A handler behind the `RequestGuard` that turns an HTTP/1.1 connection into a WebSocket when the client asks for it and
/// the `WebSocketAdmission` accepts it. Everything else it passes through.
///
/// NIO's decoder parses nothing after a request with `Upgrade`, whatever the server responds. So such a request is the last
/// of its connection: unless it becomes a WebSocket, its response gets `Connection: close`, and the connection ends. Until
/// then nothing more is read.
final class StreamTakeover: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private enum State {
    case passing
    /// The head of a request that can become a WebSocket has arrived.
    case holding(HTTPRequest, WebSocketHandshake)
    case checking(HTTPRequest, WebSocketHandshake, Task<Void, Never>)
    /// The last request of the connection was passed on.
    case last(isComplete: Bool)
    /// The connection has become a WebSocket, or it is being closed.
    case over
  }

  private let admission: any WebSocketAdmission
  private var state = State.passing
  /// Requests that were passed on and whose responses have not been sent.
  private var requestsInFlight = 0
  private var context: ChannelHandlerContext?
  private var hasHeldRead = false
  /// Nil for an HTTP/2 stream, which cannot become a WebSocket (RFC 8441 is not offered).
  private var bytes: UpgradeBytes?

  init(_ admission: any WebSocketAdmission) {
    self.admission = admission
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let pipeline = context.pipeline.syncOperations
    guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else { return }
    let bytes = UpgradeBytes()
    if (try? pipeline.addHandler(bytes, position: .before(decoder))) != nil { self.bytes = bytes }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    leave()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed, case .checking = state {
      leave()
      context.close(promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// The client is gone.
  private func leave() {
    if case .checking(_, _, let task) = state { task.cancel() }
    state = .over
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (state, unwrapInboundIn(data)) {
    case (.passing, .head(let request)): begin(request, data, context)
    case (.passing, _), (.last(isComplete: false), .body): context.fireChannelRead(data)
    case (.last(isComplete: false), .end):
      completeLast()
      context.fireChannelRead(data)
    case (.holding(let request, let handshake), .end): check(request, handshake, context)
    // What follows the last request is dropped.
    case (.holding, _), (.checking, _), (.last, _), (.over, _): break
    }
  }

  private func begin(_ request: HTTPRequest, _ data: NIOAny, _ context: ChannelHandlerContext) {
    if bytes != nil, request.endsHTTP {
      if let handshake = handshake(of: request, context) {
        state = .holding(request, handshake)
        return
      }
      state = .last(isComplete: false)
    }
    requestsInFlight += 1
    context.fireChannelRead(data)
  }

  /// - Returns: nil if the request cannot become a WebSocket.
  private func handshake(of request: HTTPRequest, _ context: ChannelHandlerContext) -> WebSocketHandshake? {
    let fields = request.headerFields
    guard requestsInFlight == 0, !fields.contains(.transferEncoding),
      fields[.contentLength].map({ $0 == "0" }) ?? true,
      // A client of HTTP/1.0 cannot upgrade (RFC 9110, section 7.8).
      let host = try? context.pipeline.syncOperations.handler(type: HostGuard.self), host.version == .http1_1
    else { return nil }
    return try? WebSocketHandshake(of: request)
  }

  private func check(_ request: HTTPRequest, _ handshake: WebSocketHandshake, _ context: ChannelHandlerContext) {
    // A client that sends more before it has the response breaks a rule (RFC 6455, section 4.1).
    guard bytes?.endsWithHead == true else {
      replay(request, context)
      return
    }
    bytes?.mode = .holding
    let takeover = NIOLoopBound(self, eventLoop: context.eventLoop)
    let task = Task { [admission, channel = context.channel] in
      let acceptance = await admission.accept(request, on: channel)
      channel.eventLoop.execute { takeover.value.decide(acceptance) }
    }
    state = .checking(request, handshake, task)
  }

  private func decide(_ acceptance: WebSocketAcceptance?) {
    guard case .checking(let request, let handshake, _) = state, let context else { return }
    guard let acceptance else {
      replay(request, context)
      context.fireChannelReadComplete()
      return
    }
    state = .over
    context.write(wrapOutboundOut(.head(.switchingProtocols(handshake))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    let channel = context.channel
    do {
      try WebSocketPipeline.replaceHTTP(in: channel, acceptance)
    } catch {
      channel.close(promise: nil)
    }
  }

  /// Passes a held request on to the router.
  private func replay(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
    completeLast()
    requestsInFlight += 1
    context.fireChannelRead(wrapInboundOut(.head(request)))
    context.fireChannelRead(wrapInboundOut(.end(nil)))
  }

  private func completeLast() {
    state = .last(isComplete: true)
    bytes?.mode = .dropping
  }

  // MARK: Responses

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var response):
      guard case .last = state, requestsInFlight == 1, response.status.kind != .informational else { break }
      response.headerFields[.connection] = "close"
      context.write(wrapOutboundOut(.head(response)), promise: promise)
      return
    case .body: break
    case .end:
      requestsInFlight -= 1
      guard case .last = state, requestsInFlight == 0 else { break }
      state = .over
      context.write(data, promise: promise)
      LingeringClose.begin(context)
      readIfHeld(context)
      return
    }
    context.write(data, promise: promise)
  }

  // MARK: Back pressure

  func read(context: ChannelHandlerContext) {
    switch state {
    case .passing, .holding, .last(isComplete: false), .over: context.read()
    case .checking, .last(isComplete: true): hasHeldRead = true
    }
  }

  private func readIfHeld(_ context: ChannelHandlerContext) {
    guard hasHeldRead else { return }
    hasHeldRead = false
    context.read()
  }
}

@available(*, unavailable)
extension StreamTakeover: Sendable {}

extension HTTPRequest {
  /// Whether NIO's decoder stops after this request. Without `Connection: upgrade` it would go on, but a client that sends
  /// such a request does not exist in practice, and closing is always safe.
  fileprivate var endsHTTP: Bool { headerFields.contains(.upgrade) || method == .connect }
}

extension HTTPResponse {
  fileprivate static func switchingProtocols(_ handshake: WebSocketHandshake) -> HTTPResponse {
    HTTPResponse(
      status: .switchingProtocols,
      headerFields: [.upgrade: "websocket", .connection: "upgrade", .secWebSocketAccept: handshake.accept])
  }
}
