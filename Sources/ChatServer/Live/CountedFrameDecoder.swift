import NIOCore
import NIOWebSocket

/// NIO's frame decoder, which also says how much it holds of a frame that is not complete.
final class CountedFrameDecoder: ByteToMessageDecoder {
  typealias InboundOut = WebSocketFrame

  private let decoder: WebSocketFrameDecoder
  /// The bytes of the payload that have arrived.
  private(set) var unfinishedBytes = 0

  init(longestFrame: Int) {
    decoder = WebSocketFrameDecoder(maxFrameSize: longestFrame)
  }

  func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    let state = try decoder.decode(context: context, buffer: &buffer)
    // It has read the header of the frame.
    unfinishedBytes = state == .needMoreData ? buffer.readableBytes : 0
    return state
  }
}

@available(*, unavailable)
extension CountedFrameDecoder: Sendable {}
