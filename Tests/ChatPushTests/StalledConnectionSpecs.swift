import NIOCore
import NIOEmbedded
import Testing

@testable import ChatPush

@Suite("Connections over HTTP/2 on which no responses arrive")
struct StalledConnectionSpecs {
  /// Like TLS, it does not close the connection until the other end responds.
  private final class Waiting: ChannelOutboundHandler {
    typealias OutboundIn = Any
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {}
  }

  private func connection() throws -> (channel: EmbeddedChannel, state: ProviderConnection) {
    let channel = EmbeddedChannel(handler: Waiting())
    try ProviderConnection.add(to: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return (channel, try channel.pipeline.syncOperations.handler(type: ProviderConnection.self))
  }

  /// Whether the connection is closed when a request ends.
  /// - Parameters:
  ///   - waited: how long the request has waited.
  ///   - change: what happens before it ends.
  private func isClosed(
    after waited: TimeAmount, _ change: (EmbeddedChannel, ProviderConnection) throws -> Void = { _, _ in }
  ) throws -> Bool {
    let (channel, state) = try connection()
    let stream = EmbeddedChannel(handler: StalledConnectionCheck(state, begun: .now() - waited))
    try stream.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try change(stream, state)
    _ = try? stream.finish(acceptAlreadyClosed: true)
    channel.embeddedEventLoop.run()
    return !channel.isActive
  }

  @Test("are closed at once when a request has waited long enough, although the end of TLS gets no response")
  func stalled() throws {
    #expect(try isClosed(after: StalledConnectionCheck.minimumWait))
    // The time goes on while the test runs.
    #expect(try !isClosed(after: StalledConnectionCheck.minimumWait - .seconds(4)))
  }

  @Test("stay open if the request got a response, or if another one got a response meanwhile")
  func live() throws {
    let waited = StalledConnectionCheck.minimumWait
    #expect(try !isClosed(after: waited) { stream, _ in try stream.writeInbound(1) })
    #expect(try !isClosed(after: waited) { _, state in state.lastResponse = .now() })
    #expect(try isClosed(after: waited) { _, state in state.lastResponse = .now() - waited - .seconds(1) })
  }
}
