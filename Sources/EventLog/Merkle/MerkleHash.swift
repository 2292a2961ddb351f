import ChatPrimitives

/// A SHA-256 hash in the tree: 32 bytes stored inline, so that a copy needs no allocation.
package struct MerkleHash: Sendable, Hashable {
  /// The length of a hash, in bytes.
  package static let byteCount = 32

  /// The bytes in memory order, eight to a word. The numeric values have no meaning.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Copies the first 32 bytes of a buffer, which must have at least as many.
  init(loading bytes: UnsafeRawBufferPointer) {
    words = (
      bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
      bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    )
  }

  /// - Returns: nil unless there are exactly 32 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self = bytes.withUnsafeBytes { MerkleHash(loading: $0) }
  }

  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Swift.withUnsafeBytes(of: words, body)
  }

  /// Writes the bytes at an offset of a buffer that has space for them.
  func store(to target: UnsafeMutableRawBufferPointer, at offset: Int) {
    target.storeBytes(of: words.0, toByteOffset: offset, as: UInt64.self)
    target.storeBytes(of: words.1, toByteOffset: offset + 8, as: UInt64.self)
    target.storeBytes(of: words.2, toByteOffset: offset + 16, as: UInt64.self)
    target.storeBytes(of: words.3, toByteOffset: offset + 24, as: UInt64.self)
  }

  package var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

  package static func == (left: MerkleHash, right: MerkleHash) -> Bool { left.words == right.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

// MARK: - Text

extension MerkleHash: CustomStringConvertible {
  /// Standard Base64 (RFC 4648, section 4): 44 characters.
  package var base64: String { StrictBase64.encode(bytes) }

  /// - Returns: nil unless the text is exactly the `base64` of a hash.
  package init?(base64 text: String) {
    guard let bytes = StrictBase64.decode(text) else { return nil }
    self.init(bytes: bytes)
  }

  /// 64 hexadecimal digits in lower case.
  package var hex: String { Hexadecimal.text(bytes) }

  /// - Returns: nil unless the text has exactly 64 hexadecimal digits in lower case.
  package init?(hex text: String) {
    guard let bytes = Hexadecimal.bytes(text) else { return nil }
    self.init(bytes: bytes)
  }

  package var description: String { hex }
}
