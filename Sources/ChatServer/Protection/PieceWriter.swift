import ChatPrimitives
import HTTPTypes
import Hummingbird
import NIOCore

/// Writes a response's body in pieces, each as soon as the client has taken most of those before it.
///
/// A single write returns at once, however long the body is and however slowly the client reads.
struct PieceWriter: ResponseBodyWriter {
  private var writer: any ResponseBodyWriter
  private let channel: any Channel

  init(_ writer: any ResponseBodyWriter, _ channel: any Channel) {
    self.writer = writer
    self.channel = channel
  }

  mutating func write(_ buffer: ByteBuffer) async throws {
    var rest = buffer
    while rest.readableBytes > Limits.responsePieceBytes,
      let piece = rest.readSlice(length: Limits.responsePieceBytes)
    {
      try await writer.write(piece)
      // Only the channel's event loop knows whether it is full, and tells the writer, which then waits.
      try await channel.eventLoop.submit {}.get()
    }
    try await writer.write(rest)
  }

  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    try await writer.finish(trailingHeaders)
  }
}
