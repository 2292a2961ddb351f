private import CLZ4

/// LZ4 at its slowest and densest level, for data that is written once and read often.
struct DenseCompressor {
  /// The highest of LZ4's HC levels: 12.
  private static let level = LZ4HC_CLEVEL_MAX

  private let dictionary: [UInt8]

  /// - Parameter dictionary: bytes that the compressed data can refer to. A reader needs the same dictionary.
  init(dictionary: [UInt8] = []) {
    self.dictionary = dictionary
  }

  /// Compresses into one LZ4 block. `raw` is at most `LogFormat.maximumSegmentBytes` long, below the limit of LZ4.
  func compress(_ raw: [UInt8]) -> [UInt8] {
    guard let stream = LZ4_createStreamHC() else { return raw }
    defer { LZ4_freeStreamHC(stream) }
    LZ4_resetStreamHC_fast(stream, Self.level)
    return dictionary.withUnsafeBytes { dictionary in
      if !dictionary.isEmpty {
        LZ4_loadDictHC(stream, dictionary.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(dictionary.count))
      }
      return raw.withUnsafeBytes { raw in
        let bound = Int(LZ4_compressBound(Int32(raw.count)))
        return [UInt8](unsafeUninitializedCapacity: bound) { target, count in
          let written = LZ4_compress_HC_continue(
            stream, raw.baseAddress?.assumingMemoryBound(to: CChar.self),
            UnsafeMutableRawPointer(target.baseAddress)?.assumingMemoryBound(to: CChar.self), Int32(raw.count),
            Int32(bound))
          // The target has the size that LZ4 requires, so LZ4 does not fail. If it did, the empty result would not
          // decode, and the check of the written block would reject it.
          count = max(0, Int(written))
        }
      }
    }
  }
}
