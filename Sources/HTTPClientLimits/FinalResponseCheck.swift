import NIOCore
import NIOHTTP1

/// Closes a connection over HTTP/1.1 on which a response has a status below 100 (RFC 9110, section 15). `AsyncHTTPClient`
/// treats the end of such a response as a bug in its own code and crashes the process.
final class FinalResponseCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  private var isInvalid = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The decoder may still have parts in its buffer.
    if isInvalid { return }
    if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
      isInvalid = true
      context.fireErrorCaught(InvalidResponseStatus())
      return context.close(promise: nil)
    }
    context.fireChannelRead(data)
  }
}

struct InvalidResponseStatus: Error, CustomStringConvertible {
  var description: String { "the response has no valid status" }
}
