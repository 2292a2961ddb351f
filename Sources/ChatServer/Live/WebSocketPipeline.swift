import ChatPrimitives
import Crypto
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOWebSocket
import SocketProtocols

/// Replaces the handlers of HTTP by those of a WebSocket. `ConnectionGuard` and `SlowReaderGuard` stay, and so does the last
/// handler, for whose removal Hummingbird would close the connection.
enum WebSocketPipeline {
  /// Must be called on the event loop, after the response was written.
  static func replaceHTTP(
    in channel: any Channel, _ acceptance: WebSocketAcceptance, address: NetworkAddress?
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
    try pipeline.handler(type: ConnectionGuard.self).becomeStream()
    remove(HTTPConnectionStateHandler.self, pipeline)
    remove(StreamTakeover.self, pipeline)
    remove(RequestGuard.self, pipeline)
    remove(StreamLimit.self, pipeline)
    remove(StalledConnections.self, pipeline)
    remove(IdleStateHandler.self, pipeline)
    remove(HTTP1ToHTTPServerCodec.self, pipeline)
    remove(HostGuard.self, pipeline)
    remove(HTTPResponseEncoder.self, pipeline)
    remove(FrameGuard.self, pipeline)
    try ReceiveBuffer.bound(of: channel)
    let frames = ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: acceptance.limits.messages.messageBytes))
    let handler = WebSocketHandler(acceptance.limits, on: channel.eventLoop)
    try pipeline.addHandlers([frames, handler], position: .after(decoder))
    handler.open(acceptance.makeApplication(), address: address)
    // Passes on the bytes that arrived behind the request. A client that sends frames before it has the response breaks a
    // rule (RFC 6455, section 4.1), but if these bytes were dropped, the next ones could not be read.
    pipeline.removeHandler(decoder, promise: nil)
    channel.pipeline.fireChannelReadComplete()
  }

  private static func remove<Handler: RemovableChannelHandler>(
    _ type: Handler.Type, _ pipeline: ChannelPipeline.SynchronousOperations
  ) {
    guard let context = try? pipeline.context(handlerType: type) else { return }
    pipeline.removeHandler(context: context, promise: nil)
  }

}

/// NIO keeps a receive buffer for each connection. By default it has 2 KiB and more, and there can be several.
enum ReceiveBuffer {
  /// Makes it small, for a connection on which little arrives. Must be called on the event loop.
  static func bound(of channel: any Channel) throws {
    let allocator = AdaptiveRecvByteBufferAllocator(
      minimum: Limits.webSocketReceiveBytes, initial: Limits.webSocketReceiveBytes,
      maximum: Limits.webSocketMaximumReceiveBytes)
    try channel.syncOptions?.setOption(.recvAllocator, value: allocator)
    try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
  }
}

/// The decoder of HTTP/1 requests. Hummingbird's own drops the bytes behind a request with `Upgrade` when it is removed.
enum RequestDecoder {
  static var limits: NIOHTTPDecoderLimitConfiguration {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = Limits.headerFieldBytes
    limits.maxHeaderListSize = Limits.headerBytes
    limits.maxHeaderFieldCount = Limits.headerFields
    return limits
  }

  /// Puts a decoder that passes these bytes on in the place of Hummingbird's. That is removed in the next turn of the event
  /// loop. With TLS, the first request can arrive before, because it waited for the choice of the protocol.
  /// - Returns: whether the pipeline is that of an HTTP/1 connection.
  static func replace(on eventLoop: any EventLoop, in pipeline: ChannelPipeline.SynchronousOperations) -> Bool {
    guard let old = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else { return false }
    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
    let reads = HeldReads()
    guard (try? pipeline.addHandler(ByteToMessageHandler(decoder), position: .after(old))) != nil,
      (try? pipeline.addHandler(reads, position: .before(old))) != nil
    else { return false }
    let isRemoved = eventLoop.makePromise(of: Void.self)
    isRemoved.futureResult.assumeIsolated().whenComplete { _ in pipeline.removeHandler(reads, promise: nil) }
    pipeline.removeHandler(old, promise: isRemoved)
    return true
  }
}

extension WebSocketHandshake {
  /// The field `Sec-WebSocket-Accept`. The protocol chose SHA-1; nothing depends on its strength.
  var accept: String {
    var text: [UInt8] = []
    Base64.append(Array(Insecure.SHA1.hash(data: acceptInput)), to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}
