import ChatPrimitives

/// Where each block of one segment begins, and the state in which the next would be appended: twelve bytes a block.
struct BlockIndex {
  /// The segment's salt, which every block must carry.
  let salt: UInt64
  private var firsts: [UInt64] = []
  /// A segment's length fits 32 bits.
  private var offsets: [UInt32] = []
  /// Where the next block would begin, in bytes.
  private(set) var endOffset = UInt64(LogFormat.segmentHeaderBytes)
  /// The position that it would begin with.
  private(set) var next: LogPosition
  /// What its `chain` would be.
  private(set) var chain: UInt32

  init(_ header: SegmentHeader, checksum: UInt32) {
    salt = header.salt
    next = header.first
    chain = checksum
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

  func place(at number: Int) -> BlockPlace {
    let isLast = number + 1 == firsts.count
    let end = isLast ? endOffset : UInt64(offsets[number + 1])
    let following = isLast ? next.value : firsts[number + 1]
    let offset = UInt64(offsets[number])
    return BlockPlace(
      first: LogPosition(firsts[number]), last: LogPosition(following - 1), offset: offset, bytes: Int(end - offset))
  }

  /// The block that holds a position; nil when it is none of this segment's.
  func place(of position: LogPosition) -> BlockPlace? {
    guard let start = firsts.first, position.value >= start, position < next else { return nil }
    var low = 0
    var high = firsts.count
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if firsts[middle] <= position.value { low = middle } else { high = middle }
    }
    return place(at: low)
  }
}
