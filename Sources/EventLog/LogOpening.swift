import ChatPrimitives

/// The steps of opening a log for writing.
struct LogOpening {
  let folder: LogFolder
  let options: LogOptions
  let counts: ReadCounts
  let maker: SegmentMaker

  /// The initial state of the writer.
  struct Opened {
    var superblock: Superblock
    /// Nil if the key is lost.
    var key: CheckpointKey?
    var segments: [Segment]
    var tail: TailWriter
    var recovery: RecoveryReport
  }

  func run() throws(LogError) -> Opened {
    var opened = try openOrCreate()
    opened.key = try key(of: opened)
    // This happens last, so that a log that cannot be opened stays unchanged.
    for name in try folder.names() ?? [] where name.hasSuffix(LogFolder.temporarySuffix) {
      try folder.remove(name)
    }
    return opened
  }

  private func openOrCreate() throws(LogError) -> Opened {
    try folder.create()
    let firsts = try (folder.names() ?? []).compactMap(SegmentName.position).sorted()
    guard let superblock = try folder.readSuperblock(counts: counts) else {
      guard firsts.isEmpty else {
        throw LogError(
          .corrupt, "The superblock is missing; restore the log directory from a backup.",
          location: .init(file: Superblock.fileName))
      }
      let created = try createSuperblock()
      return try openTail([.first], superblock: created, making: firstHeader(created))
    }
    // The keys are checked before anything is changed, so that invalid keys leave the log unchanged.
    let identity = superblock.identity
    _ = try CheckpointKey.load(directory: folder.data, identity: identity, disk: folder.disk)
    _ = try CheckpointKey.loadVerifier(directory: folder.data, identity: identity, disk: folder.disk)
    if firsts.isEmpty {
      guard superblock.durable == .origin else {
        throw LogError(
          .corrupt, "All segments are missing; restore the log directory from a backup.",
          location: .init(file: "log", position: superblock.durable))
      }
      return try openTail([.first], superblock: superblock, making: firstHeader(superblock))
    }
    return try openTail(firsts, superblock: superblock, making: nil)
  }

  /// Returns the key that signs tree heads, and creates it if the log never had one. Returns nil if the key is lost:
  /// nothing is sealed then, but the log works otherwise. A new key would not be trusted beside the tree heads that the
  /// old one signed.
  private func key(of opened: Opened) throws(LogError) -> CheckpointKey? {
    let identity = opened.superblock.identity
    let hasKey = try CheckpointKey.load(directory: folder.data, identity: identity, disk: folder.disk) != nil
    if !hasKey {
      let hasVerifier =
        try CheckpointKey.loadVerifier(directory: folder.data, identity: identity, disk: folder.disk) != nil
      let hasHeads = try folder.names()?.contains { CheckpointName.size($0) != nil } ?? false
      if hasVerifier || hasHeads { return nil }
    }
    try CheckpointKey.removeUnfinished(directory: folder.data, disk: folder.disk)
    return try CheckpointKey.loadOrCreate(
      directory: folder.data, identity: identity, disk: folder.disk, random: options.random)
  }

  private func firstHeader(_ superblock: Superblock) -> SegmentHeader {
    SegmentHeader(
      identity: superblock.identity, first: .first, salt: options.random(), created: options.now(), previousChecksum: 0,
      segmentBytes: UInt64(options.segmentBytes), lastTime: .earliest)
  }

  private func createSuperblock() throws(LogError) -> Superblock {
    let identity = LogIdentity(bytes: UUIDBytes(high: options.random(), low: options.random()))
    let temporary = Superblock.fileName + LogFolder.temporarySuffix
    let file = try folder.openTemporary(temporary, counts: counts)
    try file.write(Superblock.newFile(identity: identity), at: 0)
    try file.sync()
    try folder.rename(temporary, to: Superblock.fileName)
    return Superblock(identity: identity, sequence: 1, durable: .origin)
  }

  /// - Parameter newHeader: the header of the first segment if there is no segment yet.
  private func openTail(
    _ firsts: [LogPosition], superblock: Superblock, making newHeader: SegmentHeader?
  ) throws(LogError) -> Opened {
    let identity = superblock.identity
    var segments = firsts.map { Segment(first: $0, in: folder, identity: identity, counts: counts) }
    guard let first = firsts.last else { preconditionFailure("a log is opened with at least one segment") }
    let name = SegmentName.of(first)
    let file: LogFile
    if let newHeader {
      file = try maker.make(newHeader)
    } else {
      file = try folder.open(name, .readWrite, counts: counts)
    }
    let unread = Segment(first: first, in: folder, identity: identity, counts: counts, held: file)
    let (header, checksum) = try unread.header(file)
    guard header.seal == nil else {
      throw LogError(
        FormatFlaw("the last segment is sealed, but the active segment after it is missing"),
        at: .init(file: name, offset: 0, position: first))
    }
    let recovery = TailRecovery(
      folder: folder, file: file, header: header, headerChecksum: checksum, superblock: superblock)
    let outcome = try recovery.classify()
    var report = RecoveryReport(
      created: newHeader != nil, head: outcome.head, superblockHead: superblock.durable, tornTail: nil)
    if let torn = outcome.torn { report.tornTail = try recovery.save(torn, now: options.now()) }
    try recovery.clearSaved(outcome)
    let size = try file.size()
    if size < header.segmentBytes { try file.writeZeros(size..<header.segmentBytes) }
    try recovery.renewLastBlock(outcome)
    // Data that the previous process wrote, created or renamed without a sync is visible but not yet durable.
    try file.sync()
    try folder.sync()
    try folder.syncData()
    let tail = Segment(
      first: first, in: folder, identity: identity, counts: counts, held: file, index: outcome.index)
    segments[segments.count - 1] = tail
    let superblockFile = try folder.open(Superblock.fileName, .readWrite, counts: counts)
    // If the durable position has not changed, the copy that was read stays the newest, so it must be durable.
    try superblockFile.sync()
    let writer = TailWriter(
      file: file, segment: tail, header: header, offset: outcome.index.endOffset, chain: outcome.index.chain,
      head: outcome.head, lastTime: outcome.lastTime, superblock: superblock, superblockFile: superblockFile)
    return Opened(superblock: superblock, key: nil, segments: segments, tail: writer, recovery: report)
  }
}
