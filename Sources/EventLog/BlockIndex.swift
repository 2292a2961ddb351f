import ChatPrimitives

/// The offset of each block of one segment, and the state for appending the next one. Takes twelve bytes for each
/// block.
struct BlockIndex {
  /// The segment's salt, which every block must carry.
  let salt: UInt64
  /// Whether the blocks hold columns.
  let isSealed: Bool
  private var firsts: [UInt64] = []
  /// The offsets of the blocks. They fit 32 bits, because a segment is no longer than that.
  private var offsets: [UInt32] = []
  /// The offset at which the next block would begin, in bytes.
  private(set) var endOffset = UInt64(LogFormat.segmentHeaderBytes)
  /// The position with which the next block would begin.
  private(set) var next: LogPosition
  /// The `chain` that the next block would carry.
  private(set) var chain: UInt32
  /// The recorded time of the last record of each block; empty for an active segment.
  private(set) var lastTimes: [Timestamp] = []

  init(_ header: SegmentHeader, checksum: UInt32) {
    salt = header.salt
    isSealed = header.seal != nil
    next = header.first
    chain = isSealed ? 0 : checksum
  }

  /// Parses the index section of a sealed segment.
  init(_ header: SegmentHeader, seal: SegmentSeal, section: [UInt8]) throws(FormatFlaw) {
    self.init(header, checksum: 0)
    let bytes = section.span.bytes
    for number in 0..<seal.blocks {
      let start = number * SegmentSeal.indexEntryBytes
      guard let first = bytes.integer(at: start, as: UInt64.self),
        let offset = bytes.integer(at: start + 8, as: UInt32.self),
        let firstTime = bytes.integer(at: start + 16, as: Int64.self),
        let lastTime = bytes.integer(at: start + 24, as: Int64.self), bytes.isZero(start + 12..<start + 16)
      else { throw FormatFlaw("the index is cut short") }
      let isInOrder =
        number == 0
        ? first == header.first.value && offset == UInt32(LogFormat.segmentHeaderBytes)
        : first > firsts[number - 1] && Self.mayHold(Int(offset) - Int(offsets[number - 1]))
      guard isInOrder, first - header.first.value < seal.records
      else { throw FormatFlaw("entry \(number) of the index is out of order") }
      // A search by time bisects the index, so times out of order would hide records.
      guard firstTime <= lastTime, lastTimes.last.map({ $0.milliseconds <= firstTime }) ?? true else {
        throw FormatFlaw("the times of entry \(number) of the index are out of order")
      }
      firsts.append(first)
      offsets.append(offset)
      lastTimes.append(Timestamp(milliseconds: lastTime))
    }
    guard let last = offsets.last, Self.mayHold(seal.sections.dictionary.offset - Int(last)) else {
      throw FormatFlaw("the last entry of the index is out of order")
    }
    guard lastTimes.last == seal.lastTime else { throw FormatFlaw("the index does not end with the seal's last time") }
    endOffset = UInt64(seal.sections.dictionary.offset)
    next = LogPosition(header.first.value + seal.records)
    chain = seal.chain
  }

  /// Whether a block can have this length, header and padding included.
  private static func mayHold(_ bytes: Int) -> Bool {
    bytes > LogFormat.blockHeaderBytes
      && bytes <= LogFormat.aligned(LogFormat.blockHeaderBytes + LogFormat.maximumRawBytes)
  }

  var count: Int { firsts.count }
  var isEmpty: Bool { firsts.isEmpty }

  /// Adds the block that begins at `endOffset`.
  mutating func append(_ header: BlockHeader, checksum: UInt32) {
    firsts.append(header.first.value)
    // A segment is at most `LogFormat.maximumSegmentBytes` long.
    offsets.append(UInt32(endOffset))
    endOffset += UInt64(header.frameBytes)
    next = header.next
    chain = checksum
  }

  func location(at number: Int) -> BlockLocation {
    let isLast = number + 1 == firsts.count
    let end = isLast ? endOffset : UInt64(offsets[number + 1])
    let following = isLast ? next.value : firsts[number + 1]
    let offset = UInt64(offsets[number])
    return BlockLocation(
      first: LogPosition(firsts[number]), last: LogPosition(following - 1), offset: offset, bytes: Int(end - offset))
  }

  /// The first block of a sealed segment that holds a record of this time or later; nil if all records are earlier.
  func firstBlock(notBefore time: Timestamp) -> Int? {
    var low = 0
    var high = lastTimes.count
    while low < high {
      let middle = low + (high - low) / 2
      if lastTimes[middle] < time { low = middle + 1 } else { high = middle }
    }
    return low < lastTimes.count ? low : nil
  }

  /// The block that holds a position; nil if the position is not in this segment.
  func location(of position: LogPosition) -> BlockLocation? {
    guard let start = firsts.first, position.value >= start, position < next else { return nil }
    var low = 0
    var high = firsts.count
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if firsts[middle] <= position.value { low = middle } else { high = middle }
    }
    return location(at: low)
  }
}
