import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket echo that is made of SwiftNIO alone: with what the server is compared. It prints its port, and runs until
/// it is ended.
@main
enum BareEcho {
  /// As many connections can wait to be accepted as with the server.
  private static let backlog: Int32 = 1_024

  static func main() async throws {
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(EchoHandler()) }
      })
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.pipeline.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
      }
      .bind(host: "127.0.0.1", port: 0).get()
    print(server.localAddress?.port ?? 0)
    // Into a pipe, `print` writes only when its buffer is full.
    fflush(nil)
    try await server.closeFuture.get()
  }
}

/// Sends each message back.
private final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text, .binary, .continuation:
      let echo = WebSocketFrame(fin: frame.fin, opcode: frame.opcode, data: frame.unmaskedData)
      context.write(wrapOutboundOut(echo), promise: nil)
    case .ping:
      context.write(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)), promise: nil)
    case .connectionClose: context.close(promise: nil)
    default: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
}
