package import ChatPrimitives

/// Sixteen random bytes that name one log and never change; a cursor and every segment carry them, so that bytes of
/// another log, or of a log that was started anew, are noticed.
package struct LogIdentity: Sendable, Hashable {
  package let bytes: UUIDBytes

  package init(bytes: UUIDBytes) {
    self.bytes = bytes
  }
}

extension LogIdentity: CustomStringConvertible {
  package var description: String { bytes.text }
}
