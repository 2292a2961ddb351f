import ChatPrimitives
import CoreMetrics
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

/// A connection of any protocol with a `ConnectionGuard` and a `SlowReaderGuard` in front of it, and with a `HandshakeMeter`
/// and a `FrameGuard` behind its TLS. It is closed at once if its address has too many connections.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
  typealias Value = AcceptedConnection<Base>

  private let base: Base
  private let settings: ConnectionSettings
  private let addresses: AddressChannels?
  /// Nil if the connections cannot be detached.
  private let streams: DetachedStreams?
  private let handshakes: HandshakeMetrics

  init(
    _ base: Base, _ settings: ConnectionSettings, _ addresses: AddressChannels?, _ streams: DetachedStreams?,
    _ handshakes: HandshakeMetrics
  ) {
    self.base = base
    self.handshakes = handshakes
    self.streams = streams
    self.settings = settings
    self.addresses = addresses
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    if let addresses, !addresses.admit(channel, logger) {
      return channel.close().flatMapThrowing { throw ChannelError.ioOnClosedChannel }
    }
    let detachable = streams.map { DetachableChannel(channel, $0) }
    return channel.eventLoop.makeCompletedFuture {
      try SlowReaderGuard.boundUnsent(of: channel)
      try ReceiveBuffer.begin(of: channel)
      try channel.pipeline.syncOperations.addHandler(SlowReaderGuard(settings))
      try channel.pipeline.syncOperations.addHandler(ConnectionGuard(settings, detachable))
    }.flatMap {
      base.setup(channel: detachable ?? channel, logger: logger)
    }.flatMapThrowing { value in
      if let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self) {
        let handlers: [any ChannelHandler] = [HandshakeMeter(handshakes), FrameGuard(at: channel.eventLoop.now)]
        try channel.pipeline.syncOperations.addHandlers(handlers, position: .after(tls))
      }
      return AcceptedConnection(value, of: base, logger: logger)
    }
  }

  func handle(value: Value, logger: Logger) async {
    await value.handle()
  }
}

extension HTTPServerBuilder {
  /// Serves HTTP/1.1, or TLS with HTTP/1.1 and, if it is offered, HTTP/2. Then NIO sets up connections of either without
  /// asking for a channel, so they cannot be detached.
  /// - Parameter gate: where the direct path of messages is, once it is open; nil if it is switched off.
  static func guarded(
    _ settings: ConnectionSettings, _ sockets: any WebSocketAdmission, _ problems: ProblemLog,
    _ streams: DetachedStreams,
    directPathOf gate: StartGate?, proxies: TrustedProxies, tls: TLSConfiguration?, offersHTTP2: Bool,
    metrics: any MetricsFactory, logger: Logger
  ) -> HTTPServerBuilder {
    let handshakes = HandshakeMetrics(metrics)
    return HTTPServerBuilder { responder in
      let requests = requestChannel(settings, sockets, problems, gate, proxies, logger)
      let addresses = AddressChannels.connections(settings, proxies: proxies)
      guard let tls else {
        return GuardedChannel(
          HTTP1Channel(responder: responder, configuration: requests), settings, addresses, streams, handshakes)
      }
      guard offersHTTP2 else {
        let http1 = HTTP1Channel(responder: responder, configuration: requests)
        return GuardedChannel(
          try TLSChannel(http1, tlsConfiguration: tls), settings, addresses, streams, handshakes)
      }
      let idle = Duration.nanoseconds(StalledConnections.timeout.nanoseconds)
      let http2 = HTTP2ChannelConfiguration(
        idleTimeout: idle, gracefulCloseTimeout: idle, streamConfiguration: requests)
      return GuardedChannel(
        try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: http2, responder: responder), settings, addresses,
        nil, handshakes)
    }
  }

  private static func requestChannel(
    _ settings: ConnectionSettings, _ sockets: any WebSocketAdmission, _ problems: ProblemLog,
    _ gate: StartGate?, _ proxies: TrustedProxies, _ logger: Logger
  ) -> HTTP1Channel.Configuration {
    let streams = AddressChannels.streams(proxies: proxies)
    let turns = LoopTurns()
    return HTTP1Channel.Configuration(
      additionalChannelHandlers: [
        IdleStateHandler(allTimeout: StalledConnections.timeout), StalledConnections(),
        StreamLimit(streams, logger), RequestGuard(settings, problems, turns, logger), StreamTakeover(sockets),
      ] + (gate.map { [DirectSendPlacement($0)] } ?? []),
      idleTimeout: StalledConnections.timeout,
      httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: Limits.headerFieldBytes, maxHeaderListSize: Limits.headerBytes,
        maxHeaderFieldCount: Limits.headerFields))
  }
}
