import NIOCore
import NIOHTTP1

/// Refuses heads of HTTP/1 that do not name exactly one host (RFC 9112, section 3.2). Its place is before the codec, where
/// the version and the fields of a request are still as they came.
final class HostGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private var hasRefused = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The connection ends with the refusal, so nothing behind the head is looked at.
    guard !hasRefused else { return }
    if case .head(let head) = unwrapInboundIn(data), !Self.namesHost(head) {
      hasRefused = true
      context.fireErrorCaught(Refusal.malformedRequest("it must have exactly one Host field with a host name"))
      return
    }
    context.fireChannelRead(data)
  }

  static func namesHost(_ head: HTTPRequestHead) -> Bool {
    let hosts = head.headers["Host"]
    guard let host = hosts.first else { return head.version < .http1_1 }
    return hosts.count == 1 && host.utf8.allSatisfy(isOfHost)
  }

  /// What a host, as name or address, and a port are made of (RFC 3986, section 3.2.2 and 3.2.3).
  private static func isOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
    }
  }
}

@available(*, unavailable)
extension HostGuard: Sendable {}

extension HTTPVersion {
  fileprivate static func < (one: HTTPVersion, other: HTTPVersion) -> Bool {
    (one.major, one.minor) < (other.major, other.minor)
  }
}
