package import AsyncHTTPClient
package import NIOCore
import NIOHTTP1

/// What a server that this process calls may respond. `AsyncHTTPClient` has no such limits.
package enum ResponseLimits {
  /// Adds the limits to a connection over HTTP/1.1. Must be called on its event loop.
  package static func add(toConnection connection: any Channel) -> EventLoopFuture<Void> {
    connection.eventLoop.makeCompletedFuture {
      let pipeline = connection.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      try pipeline.addHandlers([InformationalResponseLimit(), FinalResponseCheck()], position: .after(decoder))
    }
  }

  /// Adds the limits to the stream of one request over HTTP/2. Must be called on its event loop.
  /// - Parameter frames: the maximum number of frames of the response. A frame has up to 16 KiB of the body, usually.
  package static func add(toStream stream: any Channel, frames: Int) -> EventLoopFuture<Void> {
    stream.eventLoop.makeCompletedFuture {
      let handlers: [any ChannelHandler] = [ResponseFrameLimit(maximum: frames), FinalResponseFrameCheck()]
      try stream.pipeline.syncOperations.addHandlers(handlers, position: .first)
    }
  }
}

extension HTTPClient.Configuration {
  /// Limits all responses.
  /// - Parameters:
  ///   - frames: the maximum number of frames of a response over HTTP/2.
  ///   - addToStream: called with the stream of each request over HTTP/2, on its event loop, after the limits were added.
  package mutating func limitResponses(
    frames: Int,
    addToStream: @escaping @Sendable (any Channel) -> EventLoopFuture<Void> = { $0.eventLoop.makeSucceededVoidFuture() }
  ) {
    http1_1ConnectionDebugInitializer = { ResponseLimits.add(toConnection: $0) }
    http2StreamChannelDebugInitializer = { stream in
      ResponseLimits.add(toStream: stream, frames: frames).flatMap { addToStream(stream) }
    }
  }
}
