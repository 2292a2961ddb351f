import ChatPrimitives
import Foundation

/// Whoever read the output went away, as `head` does. A tool ends quietly then.
struct OutputClosed: Error {}

/// Bytes on their way to a file descriptor, gathered into large writes.
final class ByteOutput {
  /// Written at once, in bytes.
  private static let bufferBytes = 64 * 1024

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// - Parameter descriptor: stays open. Writing to a pipe without a reader becomes an error instead of a signal.
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

  /// Writes a line and its line feed.
  func line(_ text: String) throws {
    try write(text.utf8)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  /// Writes a JSON text on a line of its own.
  func line(_ value: JSONValue) throws {
    value.write(to: &buffer)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  /// Hands over what is gathered.
  /// - Throws: `OutputClosed` when nobody reads any more.
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
