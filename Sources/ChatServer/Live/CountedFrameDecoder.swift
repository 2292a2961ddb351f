import NIOCore
import NIOWebSocket

/// NIO's frame decoder, with a count of the bytes that it holds of an incomplete frame.
final class CountedFrameDecoder: ByteToMessageDecoder {
  typealias InboundOut = WebSocketFrame

  private let decoder: WebSocketFrameDecoder
  /// The bytes of the incomplete frame that have arrived.
  private(set) var unfinishedBytes = 0

  init(longestFrame: Int) {
    decoder = WebSocketFrameDecoder(maxFrameSize: longestFrame)
  }

  func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    let state = try decoder.decode(context: context, buffer: &buffer)
    // After the header, all bytes that it holds are of the payload.
    unfinishedBytes = state == .needMoreData ? buffer.readableBytes : 0
    return state
  }
}

@available(*, unavailable)
extension CountedFrameDecoder: Sendable {}
