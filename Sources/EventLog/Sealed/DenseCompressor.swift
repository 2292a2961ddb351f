private import CLZ4

/// LZ4 at its slowest and densest, for what is written once and read often.
struct DenseCompressor {
  /// LZ4's HC levels end at 12.
  private static let level = LZ4HC_CLEVEL_MAX

  private let dictionary: [UInt8]

  /// - Parameter dictionary: what the compressed bytes may refer back to; a reader needs the same.
  init(dictionary: [UInt8] = []) {
    self.dictionary = dictionary
  }

  /// One LZ4 block. `raw` is at most `LogFormat.maximumSegmentBytes` long, below what LZ4 takes.
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
          // The target has the room that LZ4 asks for, so it does not fail; if it did, the empty result decodes to
          // nothing, and the check of what was written refuses it.
          count = max(0, Int(written))
        }
      }
    }
  }
}
