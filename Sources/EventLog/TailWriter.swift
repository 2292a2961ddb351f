import ChatPrimitives

/// What the one writer knows of the end of the log: a value that a call takes, changes and gives back.
struct TailWriter {
  var file: LogFile
  var segment: Segment
  var header: SegmentHeader
  /// Where the next block begins, in bytes.
  var offset: UInt64
  /// The checksum of the header before it.
  var chain: UInt32
  /// The last durable position.
  var head: LogPosition
  /// Recorded time of the last record.
  var lastTime: Timestamp
  /// As it was written last.
  var superblock: Superblock
  var superblockFile: LogFile
  var isClosed = false
  private var frame = BlockFrame()

  init(
    file: LogFile, segment: Segment, header: SegmentHeader, offset: UInt64, chain: UInt32, head: LogPosition,
    lastTime: Timestamp, superblock: Superblock, superblockFile: LogFile
  ) {
    self.file = file
    self.segment = segment
    self.header = header
    self.offset = offset
    self.chain = chain
    self.head = head
    self.lastTime = lastTime
    self.superblock = superblock
    self.superblockFile = superblockFile
  }

  /// Refuses a block that must not follow the head. Nothing is written.
  func check(_ block: BlockBuilder) throws(LogError) {
    guard let firstTime = block.firstTime else { throw LogError(.invalidRecord, "The block contains no record.") }
    guard block.first == head.next, block.next <= LogFormat.maximumPosition else {
      throw LogError(
        .outOfOrder, "The block begins with \(block.first); only \(head.next) follows the head.",
        location: .init(file: file.name, offset: offset, position: block.first))
    }
    guard firstTime >= lastTime else {
      throw LogError(
        .invalidRecord, "The block's first time lies before the last record; clamp it.",
        cause: "\(firstTime.milliseconds) ms after \(lastTime.milliseconds) ms",
        location: .init(file: file.name, offset: offset, position: block.first))
    }
  }

  /// Compresses a block; `write` puts it into the file.
  mutating func encode(_ block: BlockBuilder) -> BlockHeader {
    frame.encode(block, knownDurable: head)
  }

  func fits(_ block: BlockHeader) -> Bool {
    offset + UInt64(block.frameBytes) <= header.segmentBytes
  }

  /// The header of the segment that takes over. One that never held a block is replaced by it.
  /// - Parameter frameBytes: room that its first block needs.
  func successorHeader(frameBytes: Int, options: LogOptions) -> SegmentHeader {
    SegmentHeader(
      identity: header.identity, first: head.next, salt: options.random(), created: options.now(),
      previousChecksum: isEmpty ? header.previousChecksum : chain,
      segmentBytes: UInt64(max(options.segmentBytes, LogFormat.segmentHeaderBytes + frameBytes)),
      lastTime: lastTime)
  }

  /// Whether the segment holds no block yet.
  var isEmpty: Bool { head.next == header.first }

  /// Goes on in a new segment.
  mutating func move(to newFile: LogFile, _ newSegment: Segment, _ newHeader: SegmentHeader, checksum: UInt32) {
    file = newFile
    segment = newSegment
    header = newHeader
    offset = UInt64(LogFormat.segmentHeaderBytes)
    chain = checksum
  }

  /// Writes the encoded block at the tail and returns when it is durable: one write and one sync.
  mutating func write(_ block: BlockHeader, lastTime newTime: Timestamp) throws(LogError) {
    let sealed = frame.seal(block, salt: header.salt, chain: chain)
    let place = offset
    let target = file
    try frame.withBytes { (bytes) throws(LogError) in
      try target.write(bytes, at: place, position: sealed.first)
    }
    try file.syncAndCheckPath(position: sealed.first)
    segment.addToIndex(sealed, checksum: frame.headerChecksum)
    offset += UInt64(sealed.frameBytes)
    chain = frame.headerChecksum
    head = sealed.last
    lastTime = max(lastTime, newTime)
  }

  /// Writes the durable position down, into the copy that is older.
  mutating func writeSuperblock() throws(LogError) {
    guard superblock.durable != head else { return }
    let next = Superblock(identity: superblock.identity, sequence: superblock.sequence + 1, durable: head)
    try superblockFile.write(next.encoded(), at: Superblock.offset(sequence: next.sequence))
    try superblockFile.syncAndCheckPath()
    superblock = next
  }
}
