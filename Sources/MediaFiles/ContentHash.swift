import ChatPrimitives

/// The SHA-256 of a file's bytes, under which the file is stored.
package struct ContentHash: Hashable, Sendable {
  package static let byteCount = 32

  package let bytes: [UInt8]

  /// - Returns: nil unless there are exactly `byteCount` bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Parses the result of `hex`.
  package init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(hex) else { return nil }
    self.init(bytes)
  }

  /// The hash as hexadecimal digits in lower case.
  package var hex: String { Hexadecimal.text(bytes) }
}
