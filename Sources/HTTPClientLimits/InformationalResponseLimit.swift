import NIOCore
import NIOHTTP1

/// Closes the connection to a server that sends too many informational responses (1xx). `AsyncHTTPClient` ignores
/// each of them, so a fast server could otherwise keep an event loop busy until the attempt times out.
final class InformationalResponseLimit: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  /// How many informational responses may precede one final response.
  static let maximum = 10

  private var count = 0
  private var isExceeded = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The decoder may still have responses in its buffer.
    if isExceeded { return }
    if case .head(let head) = unwrapInboundIn(data) {
      count = (100..<200).contains(head.status.code) ? count + 1 : 0
      if count > Self.maximum {
        isExceeded = true
        context.fireErrorCaught(TooManyInformationalResponses())
        context.close(promise: nil)
        return
      }
    }
    context.fireChannelRead(data)
  }
}

struct TooManyInformationalResponses: Error, CustomStringConvertible {
  var description: String {
    "the server sent more than \(InformationalResponseLimit.maximum) informational responses (1xx) "
      + "before the final one"
  }
}
