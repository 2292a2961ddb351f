import ChatPrimitives

/// SHA-256 of a file's bytes: what the file is kept under.
package struct ContentHash: Hashable, Sendable {
  package static let byteCount = 32

  package let bytes: [UInt8]

  /// - Returns: nil unless there are `byteCount` bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Reads what `hex` made.
  package init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(hex) else { return nil }
    self.init(bytes)
  }

  /// In lower case.
  package var hex: String { Hexadecimal.text(bytes) }
}
