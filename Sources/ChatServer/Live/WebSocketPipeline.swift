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
  static func replaceHTTP(in channel: any Channel, _ acceptance: WebSocketAcceptance) throws {
    let pipeline = channel.pipeline.syncOperations
    let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
    let isDetached = try pipeline.handler(type: ConnectionGuard.self).becomeStream()
    remove(DirectSendHandler.self, pipeline)
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
    let longestFrame = max(acceptance.limits.messages.messageBytes, WebSocketFrameHeader.controlBytes)
    let frames = CountedFrameDecoder(longestFrame: longestFrame)
    let handler = WebSocketHandler(acceptance.limits, frames, acceptance.unfinished, on: channel.eventLoop)
    try pipeline.addHandlers([ByteToMessageHandler(frames), handler], position: .after(decoder))
    handler.open(acceptance.makeApplication())
    if isDetached { handler.detach() }
    // The decoder is removed a little later. Until then, the bytes that arrive are held.
    let reader = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    let removed = channel.eventLoop.makePromise(of: Void.self)
    pipeline.removeHandler(decoder, promise: removed)
    removed.futureResult.whenComplete { _ in
      remove(UpgradeBytes.self, channel.pipeline.syncOperations)
      reader.value.readNext()
    }
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
  /// Makes the first one small. It grows with what arrives. Must be called on the event loop.
  static func begin(of channel: any Channel) throws {
    let allocator = AdaptiveRecvByteBufferAllocator(
      minimum: Limits.receiveBytes, initial: Limits.receiveBytes, maximum: Limits.maximumReceiveBytes)
    try channel.syncOptions?.setOption(.recvAllocator, value: allocator)
  }

  /// Allows only one, and a small one again, for a connection on which little arrives.
  static func bound(of channel: any Channel) throws {
    try begin(of: channel)
    try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
  }

  /// Does the same if this is an HTTP/1 connection. A stream of HTTP/2 has no such buffer, and NIO ends the process when
  /// the option is set on one.
  static func boundIfHTTP1(of channel: any Channel) {
    guard (try? channel.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)) != nil else { return }
    try? bound(of: channel)
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
