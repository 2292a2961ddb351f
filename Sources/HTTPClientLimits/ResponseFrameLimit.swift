import NIOCore

/// Ends a response over HTTP/2 that has too many frames. `AsyncHTTPClient` ignores each informational response (1xx), so a
/// fast server could otherwise keep an event loop busy until the request times out. Over HTTP/1.1,
/// `InformationalResponseLimit` does this.
final class ResponseFrameLimit: ChannelInboundHandler {
  /// A frame. Only their number matters.
  typealias InboundIn = Any

  private let maximum: Int
  private var count = 0

  init(maximum: Int) { self.maximum = maximum }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard count <= maximum else { return }
    count += 1
    guard count > maximum else { return context.fireChannelRead(data) }
    context.fireErrorCaught(TooManyFrames(maximum: maximum))
    context.close(promise: nil)
  }
}

struct TooManyFrames: Error, CustomStringConvertible {
  let maximum: Int

  var description: String { "the response has more than \(maximum) HTTP/2 frames" }
}
