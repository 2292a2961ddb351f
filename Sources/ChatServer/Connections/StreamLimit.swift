import ChatPrimitives
import Logging
import NIOCore
import NIOHTTPTypes

/// Limits the open HTTP/2 streams of one address, or one IPv6 /64: each takes memory, and a client can open a hundred on each
/// connection. Trusted proxies, which connect for many, are exempt.
final class AddressStreams: Sendable {
  private let streams: KeyedLimit<NetworkAddress>
  private let proxies: TrustedProxies
  private let warnings: AddressWarnings
  private let logger: Logger

  init(proxies: TrustedProxies, logger: Logger, streamsOfAddress limit: Int = Limits.http2StreamsOfAddress) {
    streams = KeyedLimit(limit)
    warnings = AddressWarnings(
      "an address has too many open HTTP/2 streams; further ones are refused", limit: ("limitStreams", limit))
    self.proxies = proxies
    self.logger = logger
  }

  /// Counts the stream until it is closed.
  /// - Returns: false if its address has as many as one may have, and it must be closed.
  func admit(_ stream: any Channel) -> Bool {
    guard let client = proxies.clientAddress(of: stream) else { return true }
    guard let reservation = streams.reserve(for: client.network) else {
      warnings.warn(of: client, logger)
      return false
    }
    stream.closeFuture.whenComplete { _ in reservation.release() }
    return true
  }
}

/// Closes an HTTP/2 stream that exceeds the limit of its address when its request comes.
final class StreamLimit: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart

  private let addresses: AddressStreams
  private var isRefused = false

  init(_ addresses: AddressStreams) {
    self.addresses = addresses
  }

  func handlerAdded(context: ChannelHandlerContext) {
    isRefused = context.channel.isHTTP2Stream && !addresses.admit(context.channel)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isRefused { context.close(promise: nil) } else { context.fireChannelRead(data) }
  }
}

@available(*, unavailable)
extension StreamLimit: Sendable {}

extension Channel {
  /// Only the pipeline of a connection has an `AnswerGuard`.
  fileprivate var isHTTP2Stream: Bool { (try? pipeline.syncOperations.handler(type: AnswerGuard.self)) == nil }
}
