import ChatPrimitives

/// Classifies the end of the last segment when a log is opened for writing: clean, torn or corrupt. See
/// `docs/log-format.md`, "Recovery".
struct TailRecovery {
  let folder: LogFolder
  let file: LogFile
  let header: SegmentHeader
  let headerChecksum: UInt32
  let superblock: Superblock

  struct Outcome {
    var index: BlockIndex
    /// The recorded time of the last record.
    var lastTime: Timestamp
    /// The bytes after the last good block, which must be cut off.
    var torn: Torn?

    var head: LogPosition { LogPosition(index.next.value - 1) }
  }

  struct Torn {
    var range: Range<UInt64>
    var position: LogPosition
    var reason: String
  }

  /// Reads the whole segment once and changes nothing.
  /// - Throws: `log_corrupt` if missing or damaged data was durable.
  func classify() throws(LogError) -> Outcome {
    let size = try file.size()
    guard size <= header.segmentBytes else {
      throw LogError(
        FormatFlaw("the segment has \(size) bytes instead of \(header.segmentBytes)"),
        at: .init(file: file.name, offset: header.segmentBytes))
    }
    var index = BlockIndex(header, checksum: headerChecksum)
    var walk = SegmentWalk(file, from: index, limit: size)
    let end = try walk.run()
    var flaw: FormatFlaw? = if case .flaw(let found) = end { found } else { nil }
    let (good, bodyFlaw) = try checkBodies(walk.found)
    for found in walk.found[..<good] {
      index.append(found.header, checksum: found.checksum)
    }
    flaw = bodyFlaw ?? flaw
    let rest = try SegmentRemainder(
      file, range: index.endOffset..<max(index.endOffset, size), salt: header.salt, chain: index.chain)
    let location = LogError.Location(file: file.name, offset: index.endOffset, position: index.next)
    let known = max(superblock.durable, walk.knownDurable)
    if known >= index.next || rest.contradicts(endBefore: index.next) {
      throw LogError(flaw ?? FormatFlaw("the log ends before what is known to be durable (\(known))"), at: location)
    }
    let lastTime = try lastTime(walk.found[..<good])
    guard let writtenEnd = rest.writtenEnd else {
      return Outcome(index: index, lastTime: lastTime, torn: nil)
    }
    let torn = Torn(
      range: index.endOffset..<writtenEnd, position: index.next,
      reason: flaw?.reason ?? "bytes that are not zero follow the last block")
    return Outcome(index: index, lastTime: lastTime, torn: torn)
  }

  /// Writes the last block again, unless it is known to be durable. A sync of the previous process may have failed. The
  /// block's pages are then readable and count as clean but are not on the disk, and a sync alone would not write them.
  /// Every earlier block is durable, because the header of the last block says so.
  func renewLastBlock(_ outcome: Outcome) throws(LogError) {
    guard !outcome.index.isEmpty, outcome.head > superblock.durable else { return }
    let location = outcome.index.location(at: outcome.index.count - 1)
    try file.write(try file.read(at: location.offset, count: location.bytes), at: location.offset)
  }

  /// Copies the torn end to a separate file, durably; `clearSaved` then overwrites it.
  func save(_ torn: Torn, now: Timestamp) throws(LogError) -> RecoveryReport.TornTail {
    let names = Set(try folder.names() ?? [])
    var time = now.milliseconds
    var name: String
    repeat {
      name = "\(Self.savedPrefix(torn.position))\(time).bin"
      time += 1
    } while names.contains(name)
    // A segment's length fits 32 bits.
    let bytes = try file.read(at: torn.range.lowerBound, count: Int(torn.range.upperBound - torn.range.lowerBound))
    let aside = try folder.open(name, .createNew, counts: file.counts)
    try aside.write(bytes, at: 0)
    try aside.sync()
    try folder.sync()
    return RecoveryReport.TornTail(
      bytes: bytes.count, savedAs: name, segment: file.name, offset: torn.range.lowerBound, position: torn.position,
      reason: torn.reason)
  }

  /// Overwrites the bytes that were saved at this offset, now or by an earlier opening, with zeros. The sync of an
  /// earlier cut may have failed; its zeros are then readable and count as clean, while the torn bytes are still on the
  /// disk.
  func clearSaved(_ outcome: Outcome) throws(LogError) {
    for name in try folder.names() ?? [] where name.hasPrefix(Self.savedPrefix(outcome.index.next)) {
      let bytes = try folder.open(name, .read, counts: file.counts).size()
      let start = outcome.index.endOffset
      try file.writeZeros(start..<min(start + bytes, header.segmentBytes))
    }
  }

  /// The common prefix of the names of files that keep a torn tail of this position.
  private static func savedPrefix(_ position: LogPosition) -> String { "torn-\(SegmentName.digits(of: position))-" }

  /// The position in the name of a file that keeps a torn tail; nil for any other file.
  static func savedPosition(_ name: String) -> LogPosition? {
    let parts = name.split(separator: "-", maxSplits: 2)
    guard parts.count == 3, let value = UInt64(parts[1]), name.hasPrefix(savedPrefix(LogPosition(value))) else {
      return nil
    }
    return LogPosition(value)
  }

  /// Checks the body of the last block and of every block after the superblock's durable position.
  /// - Returns: the number of good blocks, and the flaw of the next block.
  private func checkBodies(_ found: [SegmentWalk.Found]) throws(LogError) -> (good: Int, flaw: FormatFlaw?) {
    for (number, block) in found.enumerated()
    where number == found.count - 1 || block.header.last > superblock.durable {
      let bytes = try file.read(at: block.offset, count: block.header.frameBytes)
      file.counts.addBlock()
      do {
        try block.header.check(bytes.span.bytes)
      } catch {
        return (number, error)
      }
    }
    return (found.count, nil)
  }

  private func lastTime(_ found: ArraySlice<SegmentWalk.Found>) throws(LogError) -> Timestamp {
    guard let block = found.last else { return header.lastTime }
    let bytes = try file.read(at: block.offset, count: block.header.frameBytes)
    do {
      return try block.header.records(bytes.span.bytes).last?.envelope.time ?? header.lastTime
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: block.offset, position: block.header.first))
    }
  }
}
