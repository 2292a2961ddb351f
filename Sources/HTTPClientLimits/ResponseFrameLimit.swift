import NIOCore

/// Ends a response over HTTP/2 that has too many frames. `AsyncHTTPClient` ignores each informational response (1xx), so a
/// fast push service could otherwise keep an event loop busy until the request times out. Over HTTP/1.1,
/// `InformationalResponseLimit` does this.
final class ResponseFrameLimit: ChannelInboundHandler {
  /// A frame. Only their number matters.
  typealias InboundIn = Any

  /// The maximum number of frames of one response. One with the longest body that is read (`ResponseCollector`) needs six.
  static let maximum = 64

  private var count = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard count <= Self.maximum else { return }
    count += 1
    guard count > Self.maximum else { return context.fireChannelRead(data) }
    context.fireErrorCaught(TooManyFrames())
    context.close(promise: nil)
  }
}

struct TooManyFrames: Error, CustomStringConvertible {
  var description: String { "the response has more than \(ResponseFrameLimit.maximum) HTTP/2 frames" }
}
