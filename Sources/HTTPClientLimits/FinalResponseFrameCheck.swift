import NIOCore
import NIOHPACK
import NIOHTTP2

/// Ends a response over HTTP/2 whose head has no valid status (RFC 9110, section 15), has the status 101 (RFC 9113, section
/// 8.6), or ends the response although it is informational. The decoder crashes the process if the status is negative, and
/// `AsyncHTTPClient` if another head follows 101.
final class FinalResponseFrameCheck: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload

  /// Whether the head of the final response has arrived. What follows can only be its body and its trailers.
  private var hasHead = false
  private var isInvalid = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isInvalid { return }
    if !hasHead, case .headers(let head) = unwrapInboundIn(data) {
      let status = Self.status(head.headers.first(name: ":status"))
      guard let status, status != 101, status >= 200 || !head.endStream else {
        isInvalid = true
        context.fireErrorCaught(InvalidResponseStatus())
        return context.close(promise: nil)
      }
      hasHead = status >= 200
    }
    context.fireChannelRead(data)
  }

  /// - Returns: nil unless the text has three digits and is at least 100 (RFC 9110, section 15).
  private static func status(_ text: String?) -> Int? {
    guard let text, text.utf8.count == 3, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return Int(text).flatMap { $0 >= 100 ? $0 : nil }
  }
}
