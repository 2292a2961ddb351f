import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import ChatPush

@Suite("Connections over HTTP/2 on which nothing answers")
struct StalledConnectionSpecs {
  private let clock = ResponseClock()

  private func stream(waited: TimeAmount) throws -> (EmbeddedChannel, StalledConnectionCheck) {
    let check = StalledConnectionCheck(clock, begun: .now() - waited)
    let stream = EmbeddedChannel(handler: check)
    try stream.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return (stream, check)
  }

  private func end(_ stream: EmbeddedChannel) { _ = try? stream.finish(acceptAlreadyClosed: true) }

  private func respond(_ stream: EmbeddedChannel) throws {
    try stream.writeInbound(HTTPClientResponsePart.head(HTTPResponseHead(version: .http2, status: .ok)))
  }

  @Test("are stalled if a request waited and no response began meanwhile")
  func stalled() throws {
    let (stream, check) = try stream(waited: StalledConnectionCheck.patience)
    end(stream)
    #expect(check.foundStalled)
  }

  @Test("are not stalled if the request had a response, was cancelled early, or another one had a response")
  func answered() throws {
    let (responded, first) = try stream(waited: StalledConnectionCheck.patience)
    try respond(responded)
    end(responded)
    #expect(!first.foundStalled)
    let (other, second) = try stream(waited: StalledConnectionCheck.patience)
    end(other)
    #expect(!second.foundStalled, "a response began after this request")
    let (cancelled, third) = try stream(waited: .zero)
    end(cancelled)
    #expect(!third.foundStalled)
  }
}
