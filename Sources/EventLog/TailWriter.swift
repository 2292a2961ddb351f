import ChatPrimitives

/// The writer's state at the end of the log: a value that a call takes, changes and gives back.
struct TailWriter {
  var file: LogFile
  var segment: Segment
  var header: SegmentHeader
  /// The offset at which the next block begins, in bytes.
  var offset: UInt64
  /// The checksum of the previous header.
  var chain: UInt32
  /// The last durable position.
  var head: LogPosition
  /// The recorded time of the last record.
  var lastTime: Timestamp
  /// The superblock as it was last written.
  var superblock: Superblock
  var superblockFile: LogFile
  var isClosed = false
  /// How long the sync of the last block took.
  private(set) var lastSync = Duration.zero
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

  /// Rejects a block that does not follow the head. Writes nothing.
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

  /// Compresses a block; `write` then writes it to the file.
  mutating func encode(_ block: BlockBuilder) -> BlockHeader {
    frame.encode(block, knownDurable: head)
  }

  func fits(_ block: BlockHeader) -> Bool {
    offset + UInt64(block.frameBytes) <= header.segmentBytes
  }

  /// The header of the next segment. That segment replaces the current one if the current one is empty.
  /// - Parameter frameBytes: the length of the new segment's first block.
  func successorHeader(frameBytes: Int, options: LogOptions) -> SegmentHeader {
    SegmentHeader(
      identity: header.identity, first: head.next, salt: options.random(), created: options.now(),
      previousChecksum: isEmpty ? header.previousChecksum : chain,
      segmentBytes: UInt64(max(options.segmentBytes, LogFormat.segmentHeaderBytes + frameBytes)),
      lastTime: lastTime)
  }

  /// Whether the segment holds no block yet.
  var isEmpty: Bool { head.next == header.first }

  /// Continues in a new segment.
  mutating func move(to newFile: LogFile, _ newSegment: Segment, _ newHeader: SegmentHeader, checksum: UInt32) {
    file = newFile
    segment = newSegment
    header = newHeader
    offset = UInt64(LogFormat.segmentHeaderBytes)
    chain = checksum
  }

  /// Writes the encoded block at the tail, with one write and one sync. It is durable when the call returns.
  mutating func write(_ block: BlockHeader, lastTime newTime: Timestamp) throws(LogError) {
    let sealed = frame.seal(block, salt: header.salt, chain: chain)
    let blockOffset = offset
    let target = file
    try frame.withBytes { (bytes) throws(LogError) in
      try target.write(bytes, at: blockOffset, position: sealed.first)
    }
    let syncStart = ContinuousClock.now
    try file.syncAndCheckPath(position: sealed.first)
    lastSync = syncStart.duration(to: .now)
    segment.addToIndex(sealed, checksum: frame.headerChecksum)
    offset += UInt64(sealed.frameBytes)
    chain = frame.headerChecksum
    head = sealed.last
    lastTime = max(lastTime, newTime)
  }

  /// Saves the durable position in the older copy of the superblock.
  mutating func writeSuperblock() throws(LogError) {
    guard superblock.durable != head else { return }
    let next = Superblock(identity: superblock.identity, sequence: superblock.sequence + 1, durable: head)
    try superblockFile.write(next.encoded(), at: Superblock.offset(sequence: next.sequence))
    try superblockFile.syncAndCheckPath()
    superblock = next
  }
}
