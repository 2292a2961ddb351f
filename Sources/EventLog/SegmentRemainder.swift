import ChatPrimitives

/// What a segment holds behind its last good block.
struct SegmentRemainder {
  /// Where the last byte that is not zero ends; nil when there is none.
  private(set) var writtenEnd: UInt64?
  /// The highest durable position that an intact header in there tells of.
  private(set) var knownDurable = LogPosition.origin
  /// The highest first position of such a header behind the start of the range. The block at the start itself is
  /// the block in question.
  private(set) var laterBlock: LogPosition?
  /// The position of an intact header at the start that follows another block than the one that stands before it.
  private(set) var strangerAtStart: LogPosition?

  /// Read at a time, in bytes; a multiple of the block alignment.
  private static let chunkBytes = 256 * 1024

  /// Reads all of the range. A block begins only at a multiple of eight, so headers are looked for there.
  /// - Parameters:
  ///   - salt: a header counts only with the segment's salt, which no payload can know.
  ///   - chain: what a block at the start would carry, where that is to be judged.
  init(_ file: LogFile, range: Range<UInt64>, salt: UInt64, chain: UInt32? = nil) throws(LogError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      // The extra bytes let a header be read whole that begins at the chunk's end.
      let count = min(UInt64(Self.chunkBytes + LogFormat.blockHeaderBytes), range.upperBound - offset)
      let chunk = try file.read(at: offset, count: Int(count))
      if chunk.isEmpty { return }
      let bytes = chunk.span.bytes
      if !bytes.isZero { examine(bytes, at: offset, isStart: offset == range.lowerBound, salt: salt, chain: chain) }
      offset += UInt64(Self.chunkBytes)
    }
  }

  /// Whether the bytes here speak against a clean or torn end before `position`: a header that knows the position
  /// to be durable, a block that was written after it, or the block of this position with a chain that proves the block
  /// before it to be another than it was.
  func contradicts(endBefore position: LogPosition) -> Bool {
    knownDurable >= position || (laterBlock.map { $0 >= position } ?? false) || strangerAtStart == position
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
        strangerAtStart = header.first
      }
    }
  }
}
