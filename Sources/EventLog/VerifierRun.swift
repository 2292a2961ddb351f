import ChatPrimitives

/// One run of the verifier over a log, segment by segment.
struct VerifierRun {
  private let reader: LogReader
  private let segments: [Segment]
  private let heads: TreeHeads
  private var report: LogVerifier.Report
  private var builder: MerkleTreeBuilder
  private var next = LogPosition.first
  private var time = Timestamp.earliest
  /// The last positions of the sealed segments.
  private var sealedEnds: [UInt64] = []

  init(_ reader: LogReader, heads: TreeHeads) {
    self.reader = reader
    self.heads = heads
    segments = reader.segments
    builder = MerkleTreeBuilder(from: MerkleFrontier(), in: reader.catalog)
    report = LogVerifier.Report(
      identity: reader.identity, head: reader.head, segments: segments.count, root: MerkleTree.emptyRoot,
      damagedSuperblockCopies: reader.damagedSuperblockCopies)
  }

  /// Checks the next segment.
  mutating func check(segment number: Int, progress: (UInt64) -> Void) throws(LogError) {
    let segment = segments[number]
    let isTail = number == segments.count - 1
    let open = try segment.opened(before: isTail ? nil : segments[number + 1])
    try checkStart(open.header, isFirst: number == 0)
    if number == 0 { report.treeHeads += try heads.check(builder.frontier) }
    let start = report.bytes
    if let seal = open.header.seal {
      let followsSealed = report.sealedSegments == number ? true : try allSealed(before: number)
      guard followsSealed else {
        throw LogError(
          FormatFlaw("a sealed segment follows an active one"), at: .init(file: segment.name, offset: 0))
      }
      try checkSealed(open, seal) { offset in progress(start + offset) }
      report.sealedSegments += 1
    } else {
      let index = isTail ? open.index : try freshIndex(open, before: segments[number + 1])
      for location in (0..<index.count).map(index.location) {
        _ = try checkBlock(open.block(location)) { _ in }
        progress(start + location.offset)
      }
      if isTail {
        // A crash can leave the tail too short but never too long.
        guard try open.file.size() <= open.header.segmentBytes else {
          throw LogError(
            FormatFlaw("the segment is longer than the \(open.header.segmentBytes) bytes of its header"),
            at: .init(file: segment.name, offset: open.header.segmentBytes))
        }
        let rest = try SegmentRemainder(
          open.file, range: index.endOffset..<open.header.segmentBytes, salt: open.header.salt)
        report.bytesBehindHead = (rest.writtenEnd ?? index.endOffset) - index.endOffset
      }
    }
    report.bytes += try open.file.size()
    progress(report.bytes)
  }

  func finish() throws(LogError) -> LogVerifier.Report {
    guard builder.frontier.count == reader.head.value else {
      throw LogError(
        FormatFlaw("the log ends with position \(builder.frontier.count), and \(reader.head) is known to be durable"),
        at: .init(file: segments.last?.name ?? "log", position: LogPosition(builder.frontier.count + 1)))
    }
    guard report.treeHeads == heads.count else {
      throw LogError(
        FormatFlaw("\(heads.count - report.treeHeads) tree heads have sizes that the log never had"),
        at: .init(file: "log", position: reader.head))
    }
    try checkHeadsOfSeals()
    var report = report
    report.root = builder.frontier.root
    return report
  }

  /// Whether all earlier segments are sealed by now: a server may have sealed one since it was checked.
  private func allSealed(before number: Int) throws(LogError) -> Bool {
    for segment in segments[..<number] where try !segment.isSealed() { return false }
    return true
  }

  /// Checks that every sealed segment has its tree head, except the last: after a crash its tree head may be missing,
  /// or it may have been sealed a moment ago.
  private func checkHeadsOfSeals() throws(LogError) {
    let stored = Set(try reader.storedHeads().map(\.name))
    for end in sealedEnds.dropLast() where !stored.contains(CheckpointName.of(size: end)) {
      throw LogError(
        FormatFlaw("the tree head of a sealed segment is missing"),
        at: .init(file: CheckpointName.of(size: end), position: LogPosition(end)))
    }
  }

  /// Builds the index with a new walk and ignores the known one.
  private func freshIndex(_ open: OpenSegment, before successor: Segment) throws(LogError) -> BlockIndex {
    let (header, checksum) = try open.segment.header(open.file)
    return try open.segment.walkWhole(open.file, header, checksum: checksum, before: successor)
  }

  private func checkStart(_ header: SegmentHeader, isFirst: Bool) throws(LogError) {
    guard header.first == next, header.lastTime == time, !isFirst || header.previousChecksum == 0 else {
      throw LogError(
        FormatFlaw("the segment does not follow from position \(next.value - 1)"),
        at: .init(file: SegmentName.of(header.first), offset: 0, position: header.first))
    }
  }

  // MARK: Records

  /// - Parameter completed: called for each node of the stored levels that the block completes.
  private mutating func checkBlock(
    _ block: Block, completed: (MerkleNode) -> Void
  ) throws(LogError) -> Block {
    for record in block.records {
      guard record.envelope.time >= time else {
        throw LogError(
          FormatFlaw("the recorded time is earlier than that of the previous record"),
          at: .init(file: block.segment, offset: block.offset, position: record.position))
      }
      time = record.envelope.time
      if record.payload.retained == nil { report.erased += 1 }
      try builder.add(record, of: block, completed: completed)
      if heads.includes(size: builder.frontier.count) { report.treeHeads += try heads.check(builder.frontier) }
    }
    next = block.last.next
    report.blocks += 1
    report.records += UInt64(block.records.count)
    return block
  }

  // MARK: Sealed segments

  /// Rebuilds the sections of the segment from its blocks, and compares them.
  private mutating func checkSealed(
    _ open: OpenSegment, _ seal: SegmentSeal, progress: (UInt64) -> Void
  ) throws(LogError) {
    let file = open.file
    func flaw(_ reason: String, _ section: SealedSection? = nil) -> LogError {
      LogError(
        FormatFlaw(reason),
        at: .init(file: file.name, offset: UInt64(section?.offset ?? 0), position: open.header.first))
    }
    guard seal.peaks == builder.frontier.peaks.flatMap(\.bytes) else {
      throw flaw("the Merkle peaks of the segment are not those of the records before it")
    }
    guard let table = open.tables?.table, let numbers = table.distinctNumbers else {
      throw flaw("a UUID occurs twice in the table", seal.sections.table)
    }
    var blocks = SegmentWalk(
      file, from: BlockIndex(open.header, checksum: 0), limit: UInt64(seal.sections.dictionary.offset))
    let end = try blocks.run()
    guard case .full = end, blocks.offset == UInt64(seal.sections.dictionary.offset), blocks.chain == seal.chain else {
      throw LogError(
        FormatFlaw("the blocks do not match the seal"),
        at: .init(file: file.name, offset: blocks.offset, position: blocks.next))
    }
    var contents = SealedContents(numbers: numbers)
    for found in blocks.found {
      let location = BlockLocation(
        first: found.header.first, last: found.header.last, offset: found.offset, bytes: found.header.frameBytes)
      let block = try checkBlock(open.block(location)) { contents.add($0) }
      do {
        // A segment's length fits an Int.
        try contents.add(block.records, at: Int(found.offset))
      } catch {
        throw LogError(error, at: .init(file: file.name, offset: found.offset, position: block.first))
      }
      progress(found.offset)
    }
    guard blocks.next.value - open.header.first.value == seal.records, time == seal.lastTime else {
      throw flaw("the seal's number of records or last time is not that of the blocks")
    }
    sealedEnds.append(builder.frontier.count)
    let pairs = [
      (seal.sections.index, contents.index, "index"), (seal.sections.streams, contents.streams, "index of streams"),
      (seal.sections.tree, contents.tree(end: builder.frontier), "tree"),
    ]
    for (section, expected, name) in pairs where try file.section(section) != expected {
      throw flaw("the \(name) of the segment is not that of its records", section)
    }
  }
}
