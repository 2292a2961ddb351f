import Logging
import NIOCore
import NIOHTTPTypes

/// Closes an HTTP/2 stream that exceeds the limit of its address, as soon as its request arrives.
final class StreamLimit: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart

  private let streams: AddressChannels
  private let logger: Logger
  private var isRefused = false

  init(_ streams: AddressChannels, _ logger: Logger) {
    self.streams = streams
    self.logger = logger
  }

  func handlerAdded(context: ChannelHandlerContext) {
    isRefused = context.channel.isHTTP2Stream && !streams.admit(context.channel, logger)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isRefused { context.close(promise: nil) } else { context.fireChannelRead(data) }
  }
}

@available(*, unavailable)
extension StreamLimit: Sendable {}

extension Channel {
  /// Only the pipeline of a connection has a `SlowReaderGuard`.
  fileprivate var isHTTP2Stream: Bool { (try? pipeline.syncOperations.handler(type: SlowReaderGuard.self)) == nil }
}
