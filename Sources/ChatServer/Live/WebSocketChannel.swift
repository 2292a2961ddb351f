import ChatPrimitives
import NIOCore
import SocketProtocols

/// The server's end of a WebSocket. Its methods may be called from any thread; what one thread calls keeps its order. After
/// the socket was closed they do nothing.
final class WebSocketChannel: Sendable {
  private let channel: any Channel
  private let handler: NIOLoopBound<WebSocketHandler>

  /// - Parameter handler: must be in the pipeline of this channel, whose event loop must be the current one.
  init(_ handler: WebSocketHandler, on channel: any Channel) {
    self.channel = channel
    self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
  }

  var eventLoop: any EventLoop { channel.eventLoop }

  /// Nothing is sent after `close`.
  func send(_ message: WebSocketMessage) {
    onLoop { $0.send(ByteBuffer(bytes: message.frame)) }
  }

  /// Whether the client has taken most of what was written, as far as NIO knows by now.
  var isWritable: Bool { channel.isWritable }

  /// Returns when the client has taken most of what was written.
  /// - Throws: `SlowReader` after `Limits.streamSendSeconds`, `ChannelError` if the client is gone, and
  ///   `CancellationError`.
  func untilWritable() async throws { try await channel.untilWritable(.ofStream) }

  /// Begins the closing handshake. What was sent before is written first.
  /// - Parameter reason: cut if it is longer than a close frame can hold.
  func close(_ code: WebSocketCloseCode, reason: String = "") {
    onLoop { $0.close(code, reason: reason) }
  }

  /// Delivers no more messages and reads nothing more from the client, until `resumeReading`. Meanwhile a silent client is
  /// not noticed.
  func pauseReading() {
    onLoop { $0.pauseReading() }
  }

  func resumeReading() {
    onLoop { $0.resumeReading() }
  }

  private func onLoop(_ body: @escaping @Sendable (WebSocketHandler) -> Void) {
    if eventLoop.inEventLoop {
      body(handler.value)
    } else {
      eventLoop.execute { body(self.handler.value) }
    }
  }
}
