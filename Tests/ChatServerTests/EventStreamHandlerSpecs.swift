import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ChatServer

@Suite("A stream of events whose connection was detached")
struct EventStreamHandlerSpecs {
  private let channel = EmbeddedChannel()
  private let handler = EventStreamHandler()
  private let detachable: DetachableChannel

  init() throws {
    detachable = DetachableChannel(channel, DetachedStreams())
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandlers([ConnectionGuard(ConnectionSettings(), detachable), handler])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try handler.detach()
  }

  /// What was written since the last call: the texts of bodies, and "end".
  private func written() throws -> [String] {
    var parts: [String] = []
    while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
      switch part {
      case .head: parts.append("head")
      case .body(let body): parts.append(String(buffer: body))
      case .end: parts.append("end")
      }
    }
    return parts
  }

  @Test("looks closed to Hummingbird, and stays open when its task ends")
  func detached() throws {
    try detachable.closeFuture.wait()
    try detachable.close().wait()
    channel.close(mode: .output, promise: nil)
    channel.close(promise: nil)
    #expect(channel.isActive)
    channel.close(promise: nil)
    #expect(!channel.isActive)
  }

  @Test("writes its events, and nothing of another response")
  func events() throws {
    handler.send(ByteBuffer(string: "a"))
    let other = channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .ok)))
    #expect(throws: ChannelError.self) { try other.wait() }
    handler.send(ByteBuffer(string: "b"))
    #expect(try written() == ["a", "b"])
  }

  @Test("ends with its connection, and after its last event nothing is written")
  func ends() throws {
    channel.close(promise: nil)
    handler.finish(ByteBuffer(string: "last"))
    handler.send(ByteBuffer(string: "late"))
    handler.finish(nil)
    #expect(try written() == ["last", "end"])
    // This channel has no half that stays open for what still arrives.
    #expect(!channel.isActive)
  }

  @Test("is closed at once if its client is gone")
  func gone() throws {
    channel.close(promise: nil)
    handler.finish(nil)
    #expect(!channel.isActive)
    #expect(try written().isEmpty)
  }
}
