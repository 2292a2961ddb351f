import NIOCore

/// Closes a connection over HTTP/2 on which a request ended without a response while no other response began either.
/// `AsyncHTTPClient` only ends the request's stream and keeps the connection, although the other end may be gone. The other
/// requests on the connection fail and are sent again.
final class StalledConnectionCheck: ChannelInboundHandler {
  /// A frame of the response. Only the first one matters. A reset is no frame here, and not told apart from a timeout.
  typealias InboundIn = Any

  /// The shortest time that a request must have waited for a response, so that its end is a timeout. A request waits less than
  /// `ProviderClient.timeoutSeconds` if the connection had to be made for it.
  static let minimumWait = TimeAmount.seconds(ProviderClient.timeoutSeconds / 2)

  private let connection: ProviderConnection
  private let begun: NIODeadline
  private var hasResponse = false

  init(_ connection: ProviderConnection, begun: NIODeadline = .now()) {
    self.connection = connection
    self.begun = begun
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !hasResponse {
      hasResponse = true
      connection.lastResponse = .now()
    }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    let now = NIODeadline.now()
    if !hasResponse, connection.lastResponse < begun, now - begun >= Self.minimumWait { connection.close() }
    context.fireChannelInactive()
  }

  /// Adds the handler to the stream of one request. Must be called on its event loop.
  static func add(to stream: any Channel) -> EventLoopFuture<Void> {
    stream.eventLoop.makeCompletedFuture {
      guard let parent = stream.parent else { return }
      let connection = try parent.pipeline.syncOperations.handler(type: ProviderConnection.self)
      try stream.pipeline.syncOperations.addHandler(StalledConnectionCheck(connection), position: .first)
    }
  }
}

/// What the streams of a connection share.
final class ProviderConnection: ChannelInboundHandler {
  typealias InboundIn = Any

  /// When a response last began.
  var lastResponse = NIODeadline.uptimeNanoseconds(0)
  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// Closes the connection without the end of TLS, for which the other end would have to respond.
  func close() {
    guard let context else { return }
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    // The caller is a handler of a stream, which closing the connection ends.
    context.eventLoop.execute { bound.value.context?.close(promise: nil) }
  }

  /// Adds the handler to a connection, before TLS. Must be called on its event loop.
  static func add(to connection: any Channel) -> EventLoopFuture<Void> {
    connection.eventLoop.makeCompletedFuture {
      try connection.pipeline.syncOperations.addHandler(ProviderConnection(), position: .first)
    }
  }
}
