import ChatPrimitives
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

/// A connection of any protocol with a `ConnectionGuard` and an `AnswerGuard` before it.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
  typealias Value = Base.Value

  private let base: Base
  private let settings: ConnectionSettings

  init(_ base: Base, _ settings: ConnectionSettings) {
    self.base = base
    self.settings = settings
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
    channel.eventLoop.makeCompletedFuture {
      try AnswerGuard.boundUnsent(of: channel)
      try channel.pipeline.syncOperations.addHandler(AnswerGuard(settings))
      try channel.pipeline.syncOperations.addHandler(ConnectionGuard(settings))
    }.flatMap { base.setup(channel: channel, logger: logger) }
  }

  func handle(value: Base.Value, logger: Logger) async {
    await base.handle(value: value, logger: logger)
  }
}

extension HTTPServerBuilder {
  /// HTTP/1.1, or TLS with HTTP/1.1 and, where it is offered, HTTP/2.
  static func guarded(
    _ settings: ConnectionSettings, tls: TLSConfiguration?, offersHTTP2: Bool
  ) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
      let requests = requestChannel(settings)
      guard let tls else {
        return GuardedChannel(HTTP1Channel(responder: responder, configuration: requests), settings)
      }
      guard offersHTTP2 else {
        let http1 = HTTP1Channel(responder: responder, configuration: requests)
        return GuardedChannel(try TLSChannel(http1, tlsConfiguration: tls), settings)
      }
      let idle = Duration.nanoseconds(StalledConnections.patience.nanoseconds)
      let http2 = HTTP2ChannelConfiguration(
        idleTimeout: idle, gracefulCloseTimeout: idle, streamConfiguration: requests)
      return GuardedChannel(
        try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: http2, responder: responder), settings)
    }
  }

  private static func requestChannel(_ settings: ConnectionSettings) -> HTTP1Channel.Configuration {
    HTTP1Channel.Configuration(
      additionalChannelHandlers: [
        IdleStateHandler(allTimeout: StalledConnections.patience), StalledConnections(), RequestGuard(settings),
      ],
      idleTimeout: StalledConnections.patience,
      httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: Limits.headerFieldBytes, maxHeaderListSize: Limits.headerBytes,
        maxHeaderFieldCount: Limits.headerFields))
  }
}
