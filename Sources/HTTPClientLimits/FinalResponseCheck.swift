import NIOCore
import NIOHTTP1

/// Ends a response over HTTP/1.1 that does not begin with a valid status (RFC 9110, section 15): its status is below 100,
/// or its body or its end comes first. `AsyncHTTPClient` takes such a response for an error of its own and ends the process.
final class FinalResponseCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  /// Whether the head of the final response has arrived.
  private var hasHead = false
  private var isInvalid = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The decoder may still have parts in its buffer.
    if isInvalid { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard head.status.code >= 100 else { return end(context) }
      if head.status.code >= 200 || head.status == .switchingProtocols { hasHead = true }
    case .body:
      guard hasHead else { return end(context) }
    case .end:
      guard hasHead else { return end(context) }
      hasHead = false
    }
    context.fireChannelRead(data)
  }

  private func end(_ context: ChannelHandlerContext) {
    isInvalid = true
    context.fireErrorCaught(InvalidResponseStatus())
    context.close(promise: nil)
  }
}

struct InvalidResponseStatus: Error, CustomStringConvertible {
  var description: String { "the response has no valid status" }
}
