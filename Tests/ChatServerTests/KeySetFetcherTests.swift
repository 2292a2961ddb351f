import NIOCore
import NIOPosix
import Testing

@testable import ChatServer

/// After the first bytes of a request, sends the head of a response and then one byte at a time until the connection
/// closes.
private final class DripHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let bytes = 200_000
  private static let pause = TimeAmount.milliseconds(20)

  private var drip: RepeatedTask?

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard drip == nil else { return }
    let channel = context.channel
    let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(Self.bytes)\r\n\r\n")
    channel.writeAndFlush(head, promise: nil)
    drip = channel.eventLoop.scheduleRepeatedTask(initialDelay: Self.pause, delay: Self.pause) { _ in
      channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    drip?.cancel()
    context.fireChannelInactive()
  }
}

@Suite("Fetching an issuer's keys")
struct KeySetFetcherTests {
  private struct DrippingIssuer {
    private let listener: any Channel
    let port: Int

    init() async throws {
      let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(DripHandler())
          }
        }
        .bind(host: "127.0.0.1", port: 0)
        .get()
      port = try #require(listener.localAddress?.port)
      self.listener = listener
    }

    func close() async throws { try await listener.close() }
  }

  @Test("a response that arrives byte by byte is abandoned when the time is over")
  func dripping() async throws {
    let issuer = try await DrippingIssuer()
    let fetcher = KeySetFetcher(limit: .milliseconds(300))
    await #expect(throws: KeySetError.tooSlow) {
      _ = try await fetcher.fetch(.url("http://127.0.0.1:\(issuer.port)/keys"))
    }
    await fetcher.close()
    try await issuer.close()
  }

  @Test("a directory or a device in place of the file is refused", arguments: ["/", "/dev/zero"])
  func noFile(path: String) async throws {
    let fetcher = KeySetFetcher(limit: .seconds(60))
    await #expect(throws: KeySetError.notRegularFile) { _ = try await fetcher.fetch(.file(path)) }
    await fetcher.close()
  }
}
