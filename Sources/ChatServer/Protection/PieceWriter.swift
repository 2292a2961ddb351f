import ChatPrimitives
import HTTPTypes
import Hummingbird
import NIOCore

/// Writes the body of a long response in pieces. It writes each piece when the client has taken most of those before
/// it, and finishes when the client has taken the last.
///
/// A single write would return at once, however long the body is and however slowly the client reads.
struct PieceWriter: ResponseBodyWriter {
  private var writer: any ResponseBodyWriter
  private let channel: any Channel

  init(_ writer: any ResponseBodyWriter, _ channel: any Channel) {
    self.writer = writer
    self.channel = channel
  }

  /// Copies each piece, because a slice would keep the whole body in memory. The last piece is short, because it may
  /// stay in memory after `finish`.
  mutating func write(_ buffer: ByteBuffer) async throws {
    var rest = buffer
    while rest.readableBytes > Limits.uncountedResponseBytes {
      let length = min(Limits.responsePieceBytes, rest.readableBytes - Limits.uncountedResponseBytes)
      guard let piece = rest.readSlice(length: length) else { break }
      try await writer.write(ByteBuffer(buffer: piece))
      // Only the channel's event loop knows whether the channel is full. This lets it tell the writer, which then
      // waits.
      try await channel.eventLoop.submit {}.get()
    }
    try await writer.write(ByteBuffer(buffer: rest))
  }

  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    try await channel.untilWritable()
    try await writer.finish(trailingHeaders)
  }
}
