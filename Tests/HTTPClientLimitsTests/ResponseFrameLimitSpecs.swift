import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPClientLimits

@Suite("The frames of a response over HTTP/2")
struct ResponseFrameLimitSpecs {
  private static let maximum = 64

  private let stream = EmbeddedChannel()

  init() throws {
    try stream.pipeline.syncOperations.addHandler(ResponseFrameLimit(maximum: Self.maximum))
    try stream.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  private func write(_ frame: Int) throws { _ = try stream.writeInbound(ByteBuffer(integer: frame)) }

  private func read() throws -> Int? { try stream.readInbound(as: ByteBuffer.self)?.getInteger(at: 0) }

  @Test("are passed on up to the limit")
  func upToTheLimit() throws {
    for frame in 1...Self.maximum { try write(frame) }
    for frame in 1...Self.maximum { #expect(try read() == frame) }
    #expect(stream.isActive)
    _ = try stream.finish()
  }

  @Test("end the stream above the limit, and the rest of those already received is dropped")
  func beyondTheLimit() throws {
    for frame in 1...Self.maximum { try write(frame) }
    #expect(throws: TooManyFrames.self) { try write(0) }
    #expect(!stream.isActive)
    try? write(0)
    for frame in 1...Self.maximum { #expect(try read() == frame) }
    #expect(try read() == nil)
    _ = try? stream.finish(acceptAlreadyClosed: true)
  }
}
