import ChatPrimitives

/// Writes the blocks and sections of a sealed segment to a new file, and the header last.
struct DenseSegmentWriter {
  /// The number of bytes to write at a time.
  private static let bufferBytes = 1024 * 1024
  /// The file is synced in steps of this size, so that the log's own syncs never wait for the whole file.
  private static let syncStepBytes = 4 * 1024 * 1024

  private let file: LogFile
  private let source: SegmentHeader
  private let salt: UInt64
  private let tables: ColumnTables
  private let tableBytes: [UInt8]
  private let compressor: DenseCompressor

  private var columns: ColumnWriter
  private var pending: [LogRecord] = []
  private var buffer: [UInt8] = []
  private var written = LogFormat.segmentHeaderBytes
  private var synced = 0
  private var chain: UInt32 = 0
  private var contents: SealedContents
  private var next: LogPosition
  private var lastTime: Timestamp

  /// - Parameters:
  ///   - file: a new and empty file.
  ///   - source: the header of the segment that the file replaces.
  ///   - salt: the salt of the sealed segment.
  init(_ file: LogFile, replacing source: SegmentHeader, salt: UInt64, survey: SegmentSurvey) throws(FormatFlaw) {
    self.file = file
    self.source = source
    self.salt = salt
    let numbers: [UUIDBytes: Int]
    (tableBytes, numbers) = survey.census.table()
    let dictionary = survey.dictionary()
    tables = ColumnTables(dictionary: dictionary, table: try UUIDTable(parsing: tableBytes))
    compressor = DenseCompressor(dictionary: dictionary)
    columns = ColumnWriter(numbers: numbers)
    contents = SealedContents(numbers: numbers)
    next = source.first
    lastTime = source.lastTime
  }

  /// Adds records in order, and writes the blocks that become full.
  mutating func append(_ records: [LogRecord]) throws(LogError) {
    for record in records {
      columns.append(record)
      pending.append(record)
      if columns.bytes >= ColumnWriter.targetBytes || columns.count == LogFormat.maximumBlockRecords {
        try closeBlock()
      }
    }
  }

  mutating func append(_ node: MerkleNode) {
    contents.add(node)
  }

  /// Writes the remaining records, the sections and the header, and syncs the file.
  /// - Parameters:
  ///   - start: the tree before the segment.
  ///   - end: the tree after the segment.
  ///   - activeChain: the checksum of the active segment's last block header.
  mutating func finish(
    start: MerkleFrontier, end: MerkleFrontier, activeChain: UInt32
  ) throws(LogError) -> (header: SegmentHeader, index: BlockIndex) {
    try finish(peaks: start.peaks.flatMap(\.bytes), tree: contents.tree(end: end), activeChain: activeChain)
  }

  /// Does the same with a known part of the tree.
  /// - Parameters:
  ///   - peaks: the peaks of the tree before the segment, 32 bytes each.
  ///   - tree: the content of the section.
  mutating func finish(
    peaks: [UInt8], tree: [UInt8], activeChain: UInt32
  ) throws(LogError) -> (header: SegmentHeader, index: BlockIndex) {
    if columns.count > 0 { try closeBlock() }
    let raw = [tables.dictionary, tableBytes, contents.index, contents.streams, tree]
    var sections: [SealedSection] = []
    for bytes in raw {
      let (section, stored) = SealedSection.encode(bytes, at: written + buffer.count)
      sections.append(section)
      try write(stored)
    }
    try flush()
    var header = source
    header.salt = salt
    header.segmentBytes = UInt64(written)
    header.seal = SegmentSeal(
      peaks: peaks, records: next.value - source.first.value, lastTime: lastTime,
      blocks: contents.blocks, chain: chain, activeChain: activeChain,
      sections: SealedSections(
        dictionary: sections[0], table: sections[1], index: sections[2], streams: sections[3], tree: sections[4]))
    try file.write(header.encoded().bytes, at: 0)
    try file.sync()
    return (header, try blockIndex(header))
  }

  private func blockIndex(_ header: SegmentHeader) throws(LogError) -> BlockIndex {
    guard let seal = header.seal else { preconditionFailure("a sealed segment has a seal") }
    do {
      return try BlockIndex(header, seal: seal, section: contents.index)
    } catch {
      throw LogError(error, at: .init(file: file.name, position: header.first))
    }
  }

  // MARK: Blocks

  private mutating func closeBlock() throws(LogError) {
    guard let firstRecord = pending.first, let lastRecord = pending.last else { return }
    let body = columns.finished()
    let compressed = compressor.compress(body)
    let isSmaller = compressed.count < body.count
    let stored = isSmaller ? compressed : body
    let header = BlockHeader(
      codec: isSmaller ? .columnsLZ4 : .columnsStored, salt: salt, first: firstRecord.position,
      knownDurable: LogPosition(firstRecord.position.value - 1), count: pending.count, rawBytes: body.count,
      storedBytes: stored.count, bodyChecksum: CRC32C.of(stored.span.bytes), chain: chain)
    var frame = [UInt8](repeating: 0, count: LogFormat.blockHeaderBytes)
    let checksum = frame.withUnsafeMutableBytes { header.encode(into: $0) }
    frame.append(contentsOf: stored)
    frame.append(contentsOf: repeatElement(0, count: header.frameBytes - frame.count))
    try check(frame, firstRecord.position)
    try write(frame)
    chain = checksum
    next = lastRecord.position.next
    lastTime = lastRecord.envelope.time
    pending.removeAll(keepingCapacity: true)
    columns = columns.emptied()
  }

  /// Decodes the block that will replace the only copy, compares it with the records, and adds it to the index.
  private mutating func check(_ frame: [UInt8], _ position: LogPosition) throws(LogError) {
    do throws(FormatFlaw) {
      let bytes = frame.span.bytes
      let header = try BlockHeader(parsing: bytes.extracting(..<LogFormat.blockHeaderBytes))
      try header.check(bytes)
      guard try header.records(bytes, tables: tables) == pending else {
        throw FormatFlaw("the dense block does not decode to the records that went into it")
      }
      try contents.add(pending, at: written + buffer.count)
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: UInt64(written + buffer.count), position: position))
    }
  }

  // MARK: File

  private mutating func write(_ bytes: [UInt8]) throws(LogError) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  private mutating func flush() throws(LogError) {
    if buffer.isEmpty { return }
    try file.write(buffer, at: UInt64(written))
    written += buffer.count
    buffer.removeAll(keepingCapacity: true)
    guard written <= LogFormat.maximumSegmentBytes else {
      throw LogError(
        .tooLarge, "The sealed segment would be too long; the segment stays unsealed.",
        location: .init(file: file.name))
    }
    if written - synced >= Self.syncStepBytes {
      try file.sync()
      synced = written
    }
  }
}
