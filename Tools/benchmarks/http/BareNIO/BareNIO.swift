import Foundation
import Glibc
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix

/// SwiftNIO alone, without tasks: it decodes a message with `JSONDecoder`, and responds with as many bytes as the server.
/// The only argument is the length of the response's body. It prints its port, and runs until it is ended.
@main
enum BareNIO {
  /// As many connections can wait to be accepted as with the server.
  private static let backlog: Int32 = 1_024

  static func main() async throws {
    guard let argument = CommandLine.arguments.dropFirst().first, let length = Int(argument) else {
      fatalError("name the length of the response's body")
    }
    let body = ByteBuffer(repeating: UInt8(ascii: " "), count: length)
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(MessageHandler(response: body))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    print(server.localAddress?.port ?? 0)
    // Into a pipe, `print` writes only when its buffer is full.
    fflush(nil)
    try await server.closeFuture.get()
  }
}

private struct Message: Decodable {
  var text: String
}

private final class MessageHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let response: ByteBuffer
  private let decoder = JSONDecoder()
  private var body = ByteBuffer()

  init(response: ByteBuffer) { self.response = response }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head: body.clear()
    case .body(var piece): body.writeBuffer(&piece)
    case .end:
      let isMessage = (try? decoder.decode(Message.self, from: body)) != nil
      let headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": String(response.readableBytes)]
      let head = HTTPResponseHead(version: .http1_1, status: isMessage ? .created : .badRequest, headers: headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(response))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
