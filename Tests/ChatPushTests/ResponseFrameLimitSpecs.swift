import NIOCore
import NIOEmbedded
import Testing

@testable import ChatPush

@Suite("The frames of a response over HTTP/2")
struct ResponseFrameLimitSpecs {
  private let stream = EmbeddedChannel()

  init() throws {
    try ResponseFrameLimit.add(to: stream).wait()
    try stream.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  @Test("are passed on up to the limit")
  func upToTheLimit() throws {
    for frame in 1...ResponseFrameLimit.maximum { _ = try stream.writeInbound(frame) }
    for frame in 1...ResponseFrameLimit.maximum { #expect(try stream.readInbound(as: Int.self) == frame) }
    #expect(stream.isActive)
    _ = try stream.finish()
  }

  @Test("end the stream above the limit, and the rest of those already received is dropped")
  func beyondTheLimit() throws {
    for frame in 1...ResponseFrameLimit.maximum { _ = try stream.writeInbound(frame) }
    #expect(throws: TooManyFrames.self) { try stream.writeInbound(0) }
    #expect(!stream.isActive)
    _ = try? stream.writeInbound(0)
    for frame in 1...ResponseFrameLimit.maximum { #expect(try stream.readInbound(as: Int.self) == frame) }
    #expect(try stream.readInbound(as: Int.self) == nil)
    _ = try? stream.finish(acceptAlreadyClosed: true)
  }
}
