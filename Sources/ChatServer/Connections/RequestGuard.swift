import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Stands behind the decoder of a connection, or of a stream of HTTP/2: closes it when a body drips or does not end
/// though its request was answered, and answers a head that is too large.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let settings: ConnectionSettings
  private var connection: ConnectionGuard?
  /// Requests whose heads have come and whose answers have not gone.
  private var unanswered = 0
  /// The body that is coming in; nil between requests.
  private var body: Body?
  private var timer: Scheduled<Void>?

  private struct Body {
    /// A stream of lines, which may rest as long as any connection may.
    var isStream: Bool
    /// Bytes that it must bring a second; 0 stands for no limit.
    var bytesPerSecond: Int
    var received = 0
    /// Set once it did not come in one piece with its head.
    var pace: BodyPace?
    /// How much of it had come when its request was answered; nil before.
    var receivedAtAnswer: Int?
  }

  init(_ settings: ConnectionSettings) {
    self.settings = settings
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connection = try? context.pipeline.syncOperations.handler(type: ConnectionGuard.self)
    if connection == nil, let parent = context.channel.parent {
      // A stream: it lives on the thread of its connection.
      connection = try? parent.pipeline.syncOperations.handler(type: ConnectionGuard.self)
      connection?.streamOpened()
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  // MARK: Requests

  /// As the router finds it: slashes more or less make no other path.
  private static func leads(_ path: Substring, to endpoint: String) -> Bool {
    path.split(separator: "/") == endpoint.split(separator: "/")
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      unanswered += 1
      let path = (head.path ?? "").prefix { $0 != "?" }
      body = Body(
        isStream: Self.leads(path, to: Endpoints.ingest.path),
        bytesPerSecond: Self.leads(path, to: Endpoints.uploadMedia.path)
          ? settings.uploadBytesPerSecond : settings.bodyBytesPerSecond)
      connection?.headCame()
    case .body(let buffer):
      body?.received += buffer.readableBytes
      body?.pace?.came(buffer.readableBytes)
      if let body, let before = body.receivedAtAnswer, body.received - before > Limits.drainedBodyBytes {
        context.close(promise: nil)
        return
      }
    case .end:
      body = nil
      connection?.requestCame()
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    beginPace(context)
    context.fireChannelReadComplete()
  }

  /// A body that came in one piece with its head costs no look at the clock, and no timer.
  private func beginPace(_ context: ChannelHandlerContext) {
    guard let body, body.pace == nil, !body.isStream, body.bytesPerSecond > 0 else { return }
    let pace = BodyPace(
      settings, bytesPerSecond: body.bytesPerSecond, began: context.eventLoop.now.uptimeNanosecondsSinceStart,
      received: UInt64(clamping: body.received))
    self.body?.pace = pace
    if timer == nil { schedule(until: pace.deadline, context) }
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      unanswered -= 1
      if unanswered == 0, let body, body.receivedAtAnswer == nil {
        // Nobody reads the rest of it any more, so that it has no reason to rest.
        self.body?.receivedAtAnswer = body.received
        self.body?.isStream = false
        beginPace(context)
      }
    }
    context.write(data, promise: promise)
  }

  /// A client that waits to be asked for its body is asked, unless it sends already. The request is the one that is being
  /// answered only if no other has come behind it.
  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard event is BodyWanted else {
      context.triggerUserOutboundEvent(event, promise: promise)
      return
    }
    promise?.succeed()
    guard unanswered == 1, let body, body.received == 0 else { return }
    context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
  }

  /// Everything else that the decoder refuses, Hummingbird answers with 400.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard unanswered == 0, let error = error as? HTTPParserError, error == .headerOverflow,
      let answer = try? Self.headersTooLarge()
    else {
      context.fireErrorCaught(error)
      return
    }
    context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
    context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  private static func headersTooLarge() throws -> (head: HTTPResponse, body: ByteBuffer) {
    let mapping = ProblemMapping(Refusal.headersTooLarge)
    let body = try JSONBody.encode(mapping.problem(requestID: RequestID().description))
    var fields: HTTPFields = [
      .contentType: Problem.contentType, .contentLength: String(body.readableBytes), .connection: "close",
    ]
    AnswerHeaders.complete(&fields)
    return (HTTPResponse(status: mapping.status, headerFields: fields), body)
  }

  // MARK: Time

  private func schedule(until deadline: UInt64, _ context: ChannelHandlerContext) {
    let deadline = NIODeadline.uptimeNanoseconds(deadline)
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.look(context) }
  }

  private func look(_ context: ChannelHandlerContext) {
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
