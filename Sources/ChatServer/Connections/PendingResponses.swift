import ChatPrimitives
import HTTPTypes
import Logging
import NIOCore
import NIOHTTPTypes

/// Limits what clients of one address, or of one /64 of IPv6, can make the server keep by taking no responses: streams of
/// HTTP/2 that are open, and bytes of responses that wait. A client can open a hundred streams on each connection and take
/// nothing from any of them. `AnswerGuard` does not see that: it counts what waits in the connection, and these bytes wait
/// in its streams. Trusted proxies, which connect for many, are exempt.
final class PendingResponses: Sendable {
  private let streams = KeyedLimit<NetworkAddress>(Limits.streamsOfAddress)
  private let bytes = KeyedLimit<NetworkAddress>(Limits.unsentResponseBytesOfAddress)
  private let proxies: TrustedProxies
  private let streamWarnings = AddressWarnings(
    "an address has too many open streams of HTTP/2; further ones are refused",
    limit: ("limitStreams", Limits.streamsOfAddress))
  private let byteWarnings = AddressWarnings(
    "responses to an address wait in memory because its clients do not read; further ones are cut off",
    limit: ("limitBytes", Limits.unsentResponseBytesOfAddress))
  private let logger: Logger

  init(proxies: TrustedProxies, logger: Logger) {
    self.proxies = proxies
    self.logger = logger
  }

  func client(of channel: any Channel) -> NetworkAddress? { proxies.limitedPeer(of: channel) }

  /// - Returns: nil if the address has as many streams as one may have.
  func reserveStream(of client: NetworkAddress) -> KeyedLimit<NetworkAddress>.Reservation? {
    if let reservation = streams.reserve(for: client.network) { return reservation }
    streamWarnings.warn(of: client, logger)
    return nil
  }

  /// - Returns: nil if too many bytes of responses to the address wait.
  func reserve(bytes count: Int, for client: NetworkAddress) -> KeyedLimit<NetworkAddress>.Reservation? {
    if let reservation = bytes.reserve(count, for: client.network) { return reservation }
    byteWarnings.warn(of: client, logger)
    return nil
  }
}

/// Counts a stream of HTTP/2 until it is closed, and the pieces of responses of a stream or connection until it has sent
/// them. Closes it when its address has too much of either.
final class PendingResponsesHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let pending: PendingResponses
  /// Nil for a trusted proxy.
  private var client: NetworkAddress?
  private var stream: KeyedLimit<NetworkAddress>.Reservation?
  private var isRefused = false

  init(_ pending: PendingResponses) {
    self.pending = pending
  }

  func handlerAdded(context: ChannelHandlerContext) {
    client = pending.client(of: context.channel)
    guard let client, context.channel.isStream else { return }
    stream = pending.reserveStream(of: client)
    isRefused = stream == nil
  }

  func handlerRemoved(context: ChannelHandlerContext) { stream = nil }

  /// Of a stream that is refused, no request is passed on.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isRefused { context.close(promise: nil) } else { context.fireChannelRead(data) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard let client, case .body(let piece) = unwrapOutboundIn(data), piece.readableBytes >= Limits.countedResponseBytes
    else {
      context.write(data, promise: promise)
      return
    }
    guard let reservation = pending.reserve(bytes: piece.readableBytes, for: client) else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      context.close(promise: nil)
      return
    }
    let sent = promise ?? context.eventLoop.makePromise()
    sent.futureResult.whenComplete { _ in reservation.release() }
    context.write(data, promise: sent)
  }
}

@available(*, unavailable)
extension PendingResponsesHandler: Sendable {}

extension Channel {
  /// Whether it is a stream of HTTP/2. The `AnswerGuard` is in the pipeline of the connection.
  fileprivate var isStream: Bool { (try? pipeline.syncOperations.handler(type: AnswerGuard.self)) == nil }
}
