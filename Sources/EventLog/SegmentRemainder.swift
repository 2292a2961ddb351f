import ChatPrimitives

/// The contents of a segment after its last good block.
struct SegmentRemainder {
  /// The offset after the last byte that is not zero; nil if all bytes are zero.
  private(set) var writtenEnd: UInt64?
  /// The highest durable position in the intact headers of the range.
  private(set) var knownDurable = LogPosition.origin
  /// The highest first position of an intact header after the start of the range. A block at the start itself is the
  /// block under examination.
  private(set) var laterBlock: LogPosition?
  /// The first position of an intact header at the start whose `chain` does not match the block before the range.
  private(set) var mismatchedBlockAtStart: LogPosition?

  /// The number of bytes to read at a time; a multiple of the block alignment.
  private static let chunkBytes = 256 * 1024

  /// Reads the whole range. Blocks begin only at multiples of eight, so the search for headers looks only there.
  /// - Parameters:
  ///   - salt: the segment's salt. A header without it is ignored; a payload cannot contain it, because it is random.
  ///   - chain: the chain that a block at the start must carry; nil to skip that check.
  init(_ file: LogFile, range: Range<UInt64>, salt: UInt64, chain: UInt32? = nil) throws(LogError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      // The extra bytes make a header complete that begins at the end of the chunk.
      let count = min(UInt64(Self.chunkBytes + LogFormat.blockHeaderBytes), range.upperBound - offset)
      let chunk = try file.read(at: offset, count: Int(count))
      if chunk.isEmpty { return }
      let bytes = chunk.span.bytes
      if !bytes.isZero { examine(bytes, at: offset, isStart: offset == range.lowerBound, salt: salt, chain: chain) }
      offset += UInt64(Self.chunkBytes)
    }
  }

  /// Whether the bytes contradict a clean or torn end before `position`. They do if a header says that the position is
  /// durable, if a later block was written, or if the block of this position has a chain which proves that the previous
  /// block was a different one.
  func contradicts(endBefore position: LogPosition) -> Bool {
    knownDurable >= position || (laterBlock.map { $0 >= position } ?? false) || mismatchedBlockAtStart == position
  }

  private mutating func examine(_ bytes: RawSpan, at start: UInt64, isStart: Bool, salt: UInt64, chain: UInt32?) {
    var end = bytes.byteCount
    while end > 0, bytes.integer(at: end - 1, as: UInt8.self) == 0 { end -= 1 }
    writtenEnd = start + UInt64(end)
    for offset in stride(from: 0, to: min(end, Self.chunkBytes), by: LogFormat.blockAlignment)
    where BlockHeader.looksLikeHeader(bytes, at: offset) {
      let headerEnd = offset + LogFormat.blockHeaderBytes
      guard headerEnd <= bytes.byteCount,
        let header = try? BlockHeader(parsing: bytes.extracting(offset..<headerEnd)), header.salt == salt
      else { continue }
      knownDurable = max(knownDurable, header.knownDurable)
      if !isStart || offset > 0 {
        laterBlock = max(laterBlock ?? header.first, header.first)
      } else if let chain, header.chain != chain {
        mismatchedBlockAtStart = header.first
      }
    }
  }
}
