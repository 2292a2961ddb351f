import ChatPrimitives
import HTTPTypes
import Logging
import NIOCore
import NIOHTTPTypes

/// Limits the open HTTP/2 streams of one address, and the bytes of responses that its clients do not read. An IPv6 /64 counts
/// as one address. A client can open a hundred streams on each connection and read none of them. `AnswerGuard` does not
/// notice: it counts the unsent bytes of the connection, but these bytes wait in the streams. Trusted proxies, which connect
/// for many, are exempt.
final class UnreadResponses: Sendable {
  private let streams = KeyedLimit<NetworkAddress>(Limits.http2StreamsOfAddress)
  private let bytes = KeyedLimit<NetworkAddress>(Limits.unreadResponseBytesOfAddress)
  private let proxies: TrustedProxies
  private let streamWarnings = AddressWarnings(
    "an address has too many open HTTP/2 streams; further ones are refused",
    limit: ("limitStreams", Limits.http2StreamsOfAddress))
  private let byteWarnings = AddressWarnings(
    "responses to an address wait in memory because its clients do not read; further ones are cut off",
    limit: ("limitBytes", Limits.unreadResponseBytesOfAddress))
  private let logger: Logger

  init(proxies: TrustedProxies, logger: Logger) {
    self.proxies = proxies
    self.logger = logger
  }

  func client(of channel: any Channel) -> NetworkAddress? { proxies.clientAddress(of: channel) }

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

/// Counts an HTTP/2 stream until it is closed, and each piece of a response until it is sent. Closes the stream or connection
/// if its address exceeds either limit.
final class UnreadResponsesHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let pending: UnreadResponses
  /// Nil for a trusted proxy.
  private var client: NetworkAddress?
  private var stream: KeyedLimit<NetworkAddress>.Reservation?
  private var isRefused = false

  init(_ pending: UnreadResponses) {
    self.pending = pending
  }

  func handlerAdded(context: ChannelHandlerContext) {
    client = pending.client(of: context.channel)
    guard let client, context.channel.isHTTP2Stream else { return }
    stream = pending.reserveStream(of: client)
    isRefused = stream == nil
  }

  func handlerRemoved(context: ChannelHandlerContext) { stream = nil }

  /// A refused stream passes no request on.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isRefused { context.close(promise: nil) } else { context.fireChannelRead(data) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard let client, case .body(let piece) = unwrapOutboundIn(data),
      piece.readableBytes >= Limits.smallestCountedResponseBytes
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
extension UnreadResponsesHandler: Sendable {}

extension Channel {
  /// Only the pipeline of a connection has an `AnswerGuard`.
  fileprivate var isHTTP2Stream: Bool { (try? pipeline.syncOperations.handler(type: AnswerGuard.self)) == nil }
}
