private import CISAL

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), computed by Intel ISA-L.
package enum CRC32C {
  /// The most bytes for one call: ISA-L counts them in a C `int`.
  private static let pieceBytes = 1 << 30

  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    guard let start = bytes.baseAddress else { return 0 }
    var state: UInt32 = ~0
    var offset = 0
    while offset < bytes.count {
      let step = min(pieceBytes, bytes.count - offset)
      // ISA-L declares the buffer without `const` and only reads it.
      let piece = UnsafeMutableRawPointer(mutating: start + offset).assumingMemoryBound(to: UInt8.self)
      // The step is at most `pieceBytes`, which fits an Int32.
      state = crc32_iscsi(piece, Int32(step), state)
      offset += step
    }
    return ~state
  }

  static func of(_ bytes: RawSpan) -> UInt32 {
    bytes.withUnsafeBytes { of($0) }
  }
}
