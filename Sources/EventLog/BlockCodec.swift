private import CLZ4

/// How a block's body is stored.
package enum BlockCodec: UInt8, Sendable, Hashable {
  /// The records, uncompressed, because LZ4 did not shrink them.
  case stored = 0
  /// One LZ4 block of the records (LZ4 block format, without a frame).
  case lz4 = 1
  /// The columns of a sealed segment, uncompressed.
  case columnsStored = 2
  /// One LZ4 block of the columns, compressed with the segment's dictionary.
  case columnsLZ4 = 3

  /// Whether the body holds columns, as in sealed segments, instead of records.
  package var isColumns: Bool {
    switch self {
    case .stored, .lz4: false
    case .columnsStored, .columnsLZ4: true
    }
  }

  /// Whether the body is uncompressed.
  var isStored: Bool {
    switch self {
    case .stored, .columnsStored: true
    case .lz4, .columnsLZ4: false
    }
  }
}

extension BlockCodec {
  /// The most bytes that compressing `rawBytes` bytes can produce. `rawBytes` is at most `LogFormat.maximumRawBytes`,
  /// far below the limit of LZ4.
  static func bound(rawBytes: Int) -> Int {
    max(Int(LZ4_compressBound(Int32(rawBytes))), rawBytes)
  }

  /// Compresses the body of a block, or copies it if LZ4 does not shrink it.
  /// - Parameter target: a buffer of at least `bound(rawBytes:)` bytes.
  /// - Returns: the codec that was used, and the number of bytes written.
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

  /// Decodes the body of a block.
  /// - Parameters:
  ///   - rawBytes: the raw length from the header, already checked against its limit.
  ///   - dictionary: the dictionary that the body was compressed with; at most `LogFormat.maximumDictionaryBytes` long.
  func decode(_ stored: RawSpan, rawBytes: Int, dictionary: [UInt8] = []) throws(FormatFlaw) -> [UInt8] {
    var flaw: FormatFlaw?
    let raw = [UInt8](unsafeUninitializedCapacity: rawBytes) { target, count in
      do throws(FormatFlaw) {
        let room = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: target[..<rawBytes]))
        try decode(stored, into: room, dictionary: dictionary)
        count = rawBytes
      } catch {
        flaw = error
        count = 0
      }
    }
    if let flaw { throw flaw }
    return raw
  }

  /// Decodes the body of a block into a buffer of exactly its raw length.
  func decode(
    _ stored: RawSpan, into target: UnsafeMutableRawBufferPointer, dictionary: [UInt8] = []
  ) throws(FormatFlaw) {
    if isStored {
      guard stored.byteCount == target.count else { throw FormatFlaw("the stored length differs from the raw length") }
      stored.withUnsafeBytes { target.copyMemory(from: $0) }
      return
    }
    guard let capacity = Int32(exactly: target.count), let length = Int32(exactly: stored.byteCount),
      let dictionaryLength = Int32(exactly: dictionary.count)
    else {
      throw FormatFlaw("the body is longer than any block")
    }
    let decoded = stored.withUnsafeBytes { source in
      dictionary.withUnsafeBytes { dictionary in
        LZ4_decompress_safe_usingDict(
          source.baseAddress?.assumingMemoryBound(to: CChar.self),
          target.baseAddress?.assumingMemoryBound(to: CChar.self), length, capacity,
          dictionary.baseAddress?.assumingMemoryBound(to: CChar.self), dictionaryLength)
      }
    }
    guard decoded == capacity else { throw FormatFlaw("LZ4 does not decode the body to the raw length") }
  }
}
