package import ChatPrimitives

/// Sixteen random bytes that identify one log and never change. Every cursor and every segment carries them, so that
/// data of another log, or of a log that was recreated, is detected.
package struct LogIdentity: Sendable, Hashable {
  package let bytes: UUIDBytes

  package init(bytes: UUIDBytes) {
    self.bytes = bytes
  }
}

extension LogIdentity: CustomStringConvertible {
  package var description: String { bytes.text }
}
