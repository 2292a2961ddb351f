import NIOCore
import NIOHTTP1

/// Rejects HTTP/1 heads that do not name exactly one host (RFC 9112, section 3.2). Only a head of HTTP/1.0 may name
/// none. The guard is placed before the codec, where the version and the fields of a request are still unchanged.
final class HostGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  /// The version of the newest head.
  private(set) var version = HTTPVersion.http1_1
  private var hasRefused = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The connection ends with the refusal, so nothing after the head is read.
    guard !hasRefused else { return }
    if case .head(let head) = unwrapInboundIn(data) {
      version = head.version
      guard Self.namesHost(head) else {
        hasRefused = true
        context.fireErrorCaught(Refusal.malformedRequest("it must have exactly one Host field with a host name"))
        return
      }
    }
    context.fireChannelRead(data)
  }

  static func namesHost(_ head: HTTPRequestHead) -> Bool {
    let hosts = head.headers["Host"]
    guard let host = hosts.first else { return head.version < .http1_1 }
    return hosts.count == 1 && host.utf8.allSatisfy(isOfHost)
  }

  /// Whether the byte is allowed in a host (a name or an address) or a port (RFC 3986, sections 3.2.2 and 3.2.3).
  static func isOfHost(_ byte: UInt8) -> Bool {
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
