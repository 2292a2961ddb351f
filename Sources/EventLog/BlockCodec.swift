private import CLZ4

/// How a block's body is stored.
package enum BlockCodec: UInt8, Sendable, Hashable {
  /// The records as they are: LZ4 did not shrink them.
  case stored = 0
  /// One LZ4 block (LZ4 block format, without frame).
  case lz4 = 1
}

extension BlockCodec {
  /// Room that compressing `rawBytes` needs at most. `rawBytes` is at most `LogFormat.maximumRawBytes`, far below
  /// what LZ4 takes.
  static func bound(rawBytes: Int) -> Int {
    max(Int(LZ4_compressBound(Int32(rawBytes))), rawBytes)
  }

  /// Writes the body of a block.
  /// - Parameter target: at least `bound(rawBytes:)` long.
  /// - Returns: the codec that was shorter, and how many bytes it took.
  static func encode(
    _ raw: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> (codec: BlockCodec, storedBytes: Int) {
    let written = LZ4_compress_default(
      raw.baseAddress?.assumingMemoryBound(to: CChar.self), target.baseAddress?.assumingMemoryBound(to: CChar.self),
      Int32(raw.count), Int32(target.count))
    if written > 0, Int(written) < raw.count {
      return (.lz4, Int(written))
    }
    target.copyMemory(from: raw)
    return (.stored, raw.count)
  }

  /// Reads the body of a block.
  /// - Parameter rawBytes: the length that the header gives, checked against `LogFormat.maximumRawBytes`.
  func decode(_ stored: RawSpan, rawBytes: Int) throws(FormatFlaw) -> [UInt8] {
    switch self {
    case .stored:
      guard stored.byteCount == rawBytes else { throw FormatFlaw("the stored body differs in length from the raw") }
      return stored.withUnsafeBytes { [UInt8]($0) }
    case .lz4:
      guard let capacity = Int32(exactly: rawBytes), let length = Int32(exactly: stored.byteCount) else {
        throw FormatFlaw("the body is longer than any block")
      }
      var decoded: Int32 = -1
      let raw = [UInt8](unsafeUninitializedCapacity: rawBytes) { target, count in
        decoded = stored.withUnsafeBytes { source in
          LZ4_decompress_safe(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            UnsafeMutableRawPointer(target.baseAddress)?.assumingMemoryBound(to: CChar.self), length, capacity)
        }
        count = max(0, Int(decoded))
      }
      guard decoded == capacity else { throw FormatFlaw("LZ4 does not decode the body to its raw length") }
      return raw
    }
  }
}
