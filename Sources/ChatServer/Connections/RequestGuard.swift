import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A handler behind the decoder of a connection, or of an HTTP/2 stream. It closes that connection or stream if a body
/// arrives too slowly, or does not end although its request was answered. It rejects invalid HTTP, notifies a
/// `ClientWatch` when the client goes away, and notifies a `TakenWatch` when the client has taken most of what was
/// written. It knows which requests are pipelined, and asks for their turns.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let settings: ConnectionSettings
  private let problems: ProblemLog
  private let loops: LoopTurns
  private let logger: Logger
  private var connection: ConnectionGuard?
  /// Requests whose heads have arrived and whose responses have not been sent.
  private var openRequests = 0
  /// Whether a head has arrived since the event loop last looked at its connections.
  private var hasReadHead = false
  /// The requests that arrived behind another one in the same read, and have not asked for a turn. Which of them it was makes no
  /// difference.
  private var pipelined = 0
  /// The turn of the request that is being handled.
  private var turn: RequestTurns.Turn?
  private var isRemoved = false
  /// The body that is arriving; nil between requests.
  private var body: Body?
  private var timer: Scheduled<Void>?
  /// Set once the decoder has rejected the input; nothing after that is read.
  private var breach: Breach?
  /// The watch of the request that is being handled.
  private var watch: ClientWatch?
  private var writable = WritableWatches()
  private var isClientGone = false
  /// Whether the connection ends with a request that has arrived, or with its response.
  private var isEnding = false

  /// Where a connection stops being valid HTTP.
  private enum Breach {
    /// In the body of a request. The reader of that body responds, or has responded already.
    case inBody
    /// After requests that are answered first.
    case behind(Refusal)
  }

  private struct Body {
    /// A stream of lines, which may pause as long as any connection may be idle.
    var isStream: Bool
    /// The bytes per second at which it must arrive; 0 means no limit.
    var bytesPerSecond: Int
    var received = 0
    /// Set if the body did not arrive in one piece with its head.
    var pace: BodyPace?
    /// How much of it had arrived when its request was answered; nil before.
    var receivedAtResponse: Int?
  }

  init(_ settings: ConnectionSettings, _ problems: ProblemLog, _ loops: LoopTurns, _ logger: Logger) {
    self.settings = settings
    self.problems = problems
    self.loops = loops
    self.logger = logger
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connection = try? context.pipeline.syncOperations.handler(type: ConnectionGuard.self)
    if let codec = try? context.pipeline.syncOperations.handler(type: HTTP1ToHTTPServerCodec.self) {
      try? context.pipeline.syncOperations.addHandler(HostGuard(), position: .before(codec))
    }
    if connection == nil, let parent = context.channel.parent {
      // An HTTP/2 stream runs on the event loop of its connection, so it can use the connection's handlers directly.
      connection = try? parent.pipeline.syncOperations.handler(type: ConnectionGuard.self)
      connection?.streamOpened()
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    stop()
    isRemoved = true
    finishTurn(context)
    writable.fail(ChannelError.ioOnClosedChannel)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    clientDisconnected()
    writable.fail(ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed { clientDisconnected() }
    context.fireUserInboundEventTriggered(event)
  }

  private func clientDisconnected() {
    isClientGone = true
    watch?.onGone()
    watch = nil
  }

  // MARK: Requests

  /// Compares paths as the router does: extra slashes make no difference.
  private static func matches(_ path: Substring, _ endpoint: String) -> Bool {
    // The last byte shows of most requests that they are another one.
    guard let last = path.utf8.last, last == UInt8(ascii: "/") || last == endpoint.utf8.last else { return false }
    return path.split(separator: "/") == endpoint.split(separator: "/")
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      openRequests += 1
      if hasReadHead { pipelined += 1 }
      hasReadHead = true
      if head.endsConnection { isEnding = true }
      let target = head.path ?? ""
      let path = target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
      body = Body(
        isStream: Self.matches(path, Endpoints.ingest.path),
        bytesPerSecond: Self.matches(path, Endpoints.uploadMedia.path)
          ? settings.uploadBytesPerSecond : settings.bodyBytesPerSecond)
      connection?.headReceived()
    case .body(let buffer):
      body?.received += buffer.readableBytes
      body?.pace?.noteReceived(buffer.readableBytes)
      if let body, let before = body.receivedAtResponse, body.received - before > Limits.drainedBodyBytes {
        context.close(promise: nil)
        return
      }
    case .end:
      body = nil
      connection?.requestReceived()
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    hasReadHead = false
    beginPace(context)
    context.fireChannelReadComplete()
  }

  /// A body that arrives in one piece with its head needs neither the clock nor a timer.
  private func beginPace(_ context: ChannelHandlerContext) {
    guard let body, body.pace == nil, !body.isStream, body.bytesPerSecond > 0 else { return }
    let pace = BodyPace(
      settings, bytesPerSecond: body.bytesPerSecond, began: context.eventLoop.now.uptimeNanosecondsSinceStart,
      received: UInt64(clamping: body.received))
    self.body?.pace = pace
    if timer == nil { schedule(until: pace.deadline, context) }
  }

  // MARK: Turns

  /// Whether requests have arrived that need a turn.
  var hasPipelined: Bool { pipelined > 0 }

  private func takeTurn(_ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    guard pipelined > 0 else {
      promise?.succeed()
      return
    }
    pipelined -= 1
    loops.turns(of: context.eventLoop).take { turn in
      if !self.isRemoved { self.turn = turn }
      promise?.succeed()
      return !self.isRemoved
    }
  }

  private func finishTurn(_ context: ChannelHandlerContext) {
    guard let turn else { return }
    self.turn = nil
    loops.turns(of: context.eventLoop).finish(turn)
  }

  // MARK: Requests that bypass this guard

  /// Whether every request that has arrived was answered, and another one can follow.
  var isBetweenRequests: Bool { openRequests == 0 && body == nil && breach == nil && !isEnding && !isClientGone }

  /// A request has arrived that a handler in front of the decoder answers.
  func directRequestReceived() { connection?.requestReceived() }

  // MARK: Responses

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let response):
      if response.headerFields[.connection]?.lowercased() == "close" { isEnding = true }
    case .body: break
    case .end:
      openRequests -= 1
      watch = nil
      finishTurn(context)
      if openRequests == 0, let breach {
        context.write(data, promise: promise)
        end(breach, context)
        return
      }
      if openRequests == 0, let body, body.receivedAtResponse == nil {
        // Nobody reads the rest of the body any more, so it is no longer allowed to pause.
        self.body?.receivedAtResponse = body.received
        self.body?.isStream = false
        beginPace(context)
      }
    }
    context.write(data, promise: promise)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    writable.update(context.channel)
    context.fireChannelWritabilityChanged()
  }

  /// Handles the events that handlers send down the pipeline. `BodyWanted` sends 100 (Continue), unless the body is
  /// already arriving. If another request has arrived since, the head that came last belongs to that one, so nothing is
  /// sent.
  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    if let watch = event as? ClientWatch {
      promise?.succeed()
      if isClientGone { watch.onGone() } else { self.watch = watch }
      return
    }
    if let watch = event as? WritableWatch, let promise {
      writable.add(watch, promise, on: context.channel)
      return
    }
    if event is TurnWanted {
      takeTurn(promise, context)
      return
    }
    guard event is WillReadBody else {
      context.triggerUserOutboundEvent(event, promise: promise)
      return
    }
    promise?.succeed()
    guard openRequests == 1, let body, body.received == 0 else { return }
    context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
  }

  // MARK: Invalid HTTP

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard breach == nil else { return }
    guard let refusal = error as? Refusal ?? Refusal(parsing: error) else {
      context.fireErrorCaught(error)
      return
    }
    guard body == nil else {
      breach = .inBody
      // The body's reader gets the error. If the response has already been sent, there is no reader.
      if openRequests > 0 { context.fireErrorCaught(error) } else { end(.inBody, context) }
      return
    }
    breach = .behind(refusal)
    if openRequests == 0 { end(.behind(refusal), context) }
  }

  /// Sends the response that is still missing, if any, and closes the connection.
  private func end(_ breach: Breach, _ context: ChannelHandlerContext) {
    switch breach {
    case .inBody: break
    case .behind(let refusal):
      guard let response = try? response(to: refusal, context) else { break }
      context.write(wrapOutboundOut(.head(response.head)), promise: nil)
      context.write(wrapOutboundOut(.body(response.body)), promise: nil)
      context.write(wrapOutboundOut(.end(nil)), promise: nil)
    }
    context.flush()
    // If both directions were closed at once, the system would reset the connection because of the bytes that still
    // arrive, and the client could lose the response.
    context.close(mode: .output, promise: nil)
    stop()
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: LingeringClose.time) { context.close(promise: nil) }
  }

  private func response(
    to refusal: Refusal, _ context: ChannelHandlerContext
  ) throws -> (head: HTTPResponse, body: ByteBuffer) {
    let mapping = ProblemMapping(refusal)
    let requestID = RequestID()
    // There are no header fields that could name a client behind a proxy.
    problems.note(
      mapping, of: refusal, route: LoggedRoute.none, from: context.remoteAddress.flatMap { NetworkAddress($0) },
      requestID: requestID, to: logger)
    let body = try JSONBody.encode(mapping.problem(requestID: requestID.description))
    var fields: HTTPFields = [
      .contentType: Problem.contentType, .contentLength: String(body.readableBytes), .connection: "close",
    ]
    ResponseHeaders.complete(&fields, requestID: requestID.description)
    return (HTTPResponse(status: mapping.status, headerFields: fields), body)
  }

  // MARK: Time

  private func schedule(until deadline: UInt64, _ context: ChannelHandlerContext) {
    let deadline = NIODeadline.uptimeNanoseconds(deadline)
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.checkPace(context) }
  }

  private func checkPace(_ context: ChannelHandlerContext) {
    timer = nil
    guard let pace = body?.pace else { return }
    if pace.deadline <= context.eventLoop.now.uptimeNanosecondsSinceStart {
      context.close(promise: nil)
    } else {
      schedule(until: pace.deadline, context)
    }
  }

  private func stop() {
    timer?.cancel()
    timer = nil
  }
}

@available(*, unavailable)
extension RequestGuard: Sendable {}

extension HTTPRequest {
  /// Whether the connection may end with this request, or serve another protocol after it.
  fileprivate var endsConnection: Bool {
    if let connection = headerFields[.connection], connection.lowercased() != "keep-alive" { return true }
    return headerFields.contains(.upgrade) || method == .connect
  }
}
