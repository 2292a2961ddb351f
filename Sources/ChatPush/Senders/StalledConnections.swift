import HTTPClientLimits
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// When the last response began on a connection over HTTP/2. It is a handler only so that the streams find it.
final class ResponseClock: ChannelInboundHandler {
  typealias InboundIn = Any

  fileprivate(set) var lastResponse = NIODeadline.uptimeNanoseconds(0)

  /// Adds the handler to a connection. Must be called on its event loop.
  static func add(to connection: any Channel) -> EventLoopFuture<Void> {
    connection.eventLoop.makeCompletedFuture { try connection.pipeline.syncOperations.addHandler(ResponseClock()) }
  }
}

/// Closes a connection over HTTP/2 on which a request ended without a response while no other response began either. The next
/// request then makes a new connection. `AsyncHTTPClient` only ends the request's stream and keeps the connection, although
/// nothing may answer at the other end any more.
final class StalledConnectionCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  /// How long a request must have waited for a response. One that ends earlier was cancelled, or had to wait for the
  /// connection.
  static let patience = TimeAmount.seconds(ProviderClient.timeoutSeconds / 2)

  private let clock: ResponseClock
  private let begun: NIODeadline
  private var hasResponse = false
  private(set) var foundStalled = false

  init(_ clock: ResponseClock, begun: NIODeadline = .now()) {
    self.clock = clock
    self.begun = begun
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !hasResponse {
      hasResponse = true
      clock.lastResponse = .now()
    }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !hasResponse, clock.lastResponse < begun, .now() - begun >= Self.patience {
      foundStalled = true
      context.channel.parent?.close(promise: nil)
    }
    context.fireChannelInactive()
  }

  /// Adds the handler to the stream of one request. Must be called on its event loop.
  static func add(to stream: any Channel) -> EventLoopFuture<Void> {
    stream.eventLoop.makeCompletedFuture {
      guard let connection = stream.parent else { return }
      let clock = try connection.pipeline.syncOperations.handler(type: ResponseClock.self)
      let pipeline = stream.pipeline.syncOperations
      let decoder = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
      try pipeline.addHandler(StalledConnectionCheck(clock), position: .after(decoder))
    }
  }
}
