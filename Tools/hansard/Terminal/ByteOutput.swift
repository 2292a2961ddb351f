import ChatPrimitives
import Foundation

/// The reader of the output has closed it, as `head` does. A tool then ends without an error message.
struct OutputClosed: Error {}

/// Buffers bytes for a file descriptor and writes them in large pieces.
final class ByteOutput {
  /// The size at which the buffer is written, in bytes.
  private static let bufferBytes = 64 * 1024

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// - Parameter descriptor: Stays open. Writing to a pipe without a reader becomes an error instead of a signal.
  init(_ descriptor: Int32 = Terminal.standardOutput) {
    self.descriptor = descriptor
    signal(SIGPIPE, SIG_IGN)
    buffer.reserveCapacity(Self.bufferBytes)
  }

  func write(_ bytes: some Sequence<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  func write(_ text: String) throws {
    try write(text.utf8)
  }

  /// Writes a line and a line feed.
  func line(_ text: String) throws {
    try write(text.utf8)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  /// Writes a JSON text on its own line.
  func line(_ value: JSONValue) throws {
    value.write(to: &buffer)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  /// Writes the buffered bytes.
  /// - Throws: `OutputClosed` if the reader has closed the pipe.
  func flush() throws {
    var start = 0
    while start < buffer.count {
      let written = buffer.withUnsafeBytes { bytes in
        Foundation.write(descriptor, bytes.baseAddress?.advanced(by: start), bytes.count - start)
      }
      if written >= 0 {
        start += written
      } else if errno == EPIPE {
        throw OutputClosed()
      } else if errno != EINTR {
        throw ToolError(
          "the output cannot be written", because: SystemError.text(errno), next: "make room, or write elsewhere")
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
