import ChatPrimitives
import ChatProtocol
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import ChatServer

/// A piece that was written to a connection. Its client takes it when a test says so.
private final class WrittenPiece: Sendable {
  private let outcome = Mutex<Bool?>(nil)

  /// Whether the client took the piece. Nil while the piece waits.
  var isTaken: Bool? { outcome.withLock { $0 } }

  init(to channel: EmbeddedChannel) {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.whenSuccess { self.outcome.withLock { $0 = true } }
    promise.futureResult.whenFailure { _ in self.outcome.withLock { $0 = false } }
    channel.triggerUserOutboundEvent(WritableWatch(), promise: promise)
  }
}

@Suite("A download")
struct DownloadSpecs {
  private func connection(isWritable: Bool) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandler(
      RequestGuard(ConnectionSettings(), ProblemLog(), LoopTurns(), Logger(label: "test")))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.isWritable = isWritable
    return channel
  }

  @Test("continues immediately while the client reads")
  func fastClient() throws {
    let channel = try connection(isWritable: true)
    #expect(WrittenPiece(to: channel).isTaken == true)
  }

  @Test("waits until the client has read a piece, and then continues with the next")
  func slowClient() throws {
    let channel = try connection(isWritable: false)
    for _ in 0..<2 {
      channel.isWritable = false
      channel.pipeline.fireChannelWritabilityChanged()
      let piece = WrittenPiece(to: channel)
      channel.pipeline.fireChannelWritabilityChanged()
      #expect(piece.isTaken == nil)
      channel.isWritable = true
      channel.pipeline.fireChannelWritabilityChanged()
      #expect(piece.isTaken == true)
    }
  }

  @Test("ends when the client goes away, before or behind a piece")
  func leavingClient() throws {
    let channel = try connection(isWritable: false)
    let piece = WrittenPiece(to: channel)
    channel.close(promise: nil)
    channel.embeddedEventLoop.run()
    #expect(piece.isTaken == false)
    #expect(WrittenPiece(to: channel).isTaken == false)
  }

  @Test("has slots of its own, and all but probes and writes have slots")
  func slots() {
    #expect(ReadClass(of: Endpoints.getMedia.erased) == .media)
    #expect(ReadClass(of: Endpoints.getThumbnail.erased) == .media)
    #expect(ReadClass(of: Endpoints.uploadMedia.erased) == .none)
    #expect(ReadClass(of: Endpoints.getMe.erased) == .json)
    #expect(ReadClass(of: Endpoints.health.erased) == .none)
  }
}
