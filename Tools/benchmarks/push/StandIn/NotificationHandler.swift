import NIOCore
import NIOHPACK
import NIOHTTP2

/// Responds to the requests of one connection. It takes the frames themselves, because a channel for each stream would
/// cost more than everything else here.
final class NotificationHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private struct Request {
    let provider: Provider?
    var bodyBytes = 0
    /// Only if requests are kept.
    var headers: HPACKHeaders?
    var body: ByteBuffer?
  }

  /// By how much the connection's window is larger than HTTP/2's default, so that it never limits a client.
  private static let windowBytes = 16 * 1024 * 1024
  /// After how many bytes the window is enlarged again.
  private static let refillBytes = 1024 * 1024

  private let tally: Tally
  private var requests: [HTTP2StreamID: Request] = [:]
  /// The bytes for which the window was not enlarged yet.
  private var consumed = 0

  init(_ tally: Tally) { self.tally = tally }

  func channelActive(context: ChannelHandlerContext) {
    tally.addConnection()
    enlargeWindow(by: Self.windowBytes, context)
    context.flush()
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.payload {
    case .headers(let head):
      var request = Request(provider: head.headers.first(name: ":path").flatMap(Provider.init(path:)))
      if tally.keeps {
        request.headers = head.headers
        request.body = context.channel.allocator.buffer(capacity: 0)
      }
      requests[frame.streamID] = request
      if head.endStream { respond(frame.streamID, context) }
    case .data(let content):
      take(content, frame.streamID, context)
    case .rstStream:
      requests[frame.streamID] = nil
    case .priority, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .alternativeService, .origin:
      break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func take(_ content: HTTP2Frame.FramePayload.Data, _ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
    let size = content.data.readableBytes
    requests[stream]?.bodyBytes += size
    if requests[stream]?.body != nil, case .byteBuffer(var bytes) = content.data {
      requests[stream]?.body?.writeBuffer(&bytes)
    }
    consumed += size
    if consumed >= Self.refillBytes {
      enlargeWindow(by: consumed, context)
      consumed = 0
    }
    if content.endStream { respond(stream, context) }
  }

  private func respond(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard let request = requests.removeValue(forKey: stream) else { return }
    if let provider = request.provider {
      tally.add(provider, bodyBytes: request.bodyBytes)
      if let headers = request.headers, let body = request.body {
        tally.keep(Tally.Kept(provider: provider, headers: headers, body: body))
      }
    }
    let response = request.provider?.response ?? Provider.notFound
    write(.headers(.init(headers: response.headers, endStream: response.body == nil)), stream, context)
    if let body = response.body { write(.data(.init(data: .byteBuffer(body), endStream: true)), stream, context) }
  }

  private func enlargeWindow(by bytes: Int, _ context: ChannelHandlerContext) {
    write(.windowUpdate(windowSizeIncrement: bytes), .rootStream, context)
  }

  private func write(_ payload: HTTP2Frame.FramePayload, _ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
  }
}

/// Counts what a connection receives, before it is decrypted.
final class WireCounter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let tally: Tally

  init(_ tally: Tally) { self.tally = tally }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    tally.add(wireBytes: unwrapInboundIn(data).readableBytes)
    context.fireChannelRead(data)
  }
}
