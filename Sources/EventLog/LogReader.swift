package import ChatPrimitives
import Synchronization

/// Reads a log while a server is running, or one that no process has open. It changes nothing and takes no lock. It
/// shows only records that the files prove to be durable, so it lags behind a busy server by the last block written.
package final class LogReader: BlockSource {
  package let identity: LogIdentity

  private let folder: LogFolder
  private let counts: ReadCounts
  let catalog: SegmentCatalog
  private let shownHead = Mutex(LogPosition.origin)
  private let superblockDamage = Mutex(0)

  private init(_ superblock: Superblock, folder: LogFolder, counts: ReadCounts) {
    identity = superblock.identity
    self.folder = folder
    self.counts = counts
    catalog = SegmentCatalog([])
  }

  /// - Parameter directory: the data directory; the log is in its subdirectory `log/`.
  /// - Throws: `log_missing`, `log_corrupt`, `log_wrong_version`, `log_io`.
  package static func open(directory: String, disk: any Disk = PosixDisk()) throws(LogError) -> LogReader {
    let folder = LogFolder(data: directory, disk: disk)
    let counts = ReadCounts()
    let names = try folder.names()
    guard let superblock = try folder.readSuperblock(counts: counts) else {
      guard let names, names.contains(where: { SegmentName.position($0) != nil }) else {
        throw LogError(
          .missing, "There is no log in the directory; name the data directory of a server.",
          location: .init(file: folder.path))
      }
      throw LogError(
        .corrupt, "The superblock is missing; restore the log directory from a backup.",
        location: .init(file: Superblock.fileName))
    }
    let reader = LogReader(superblock, folder: folder, counts: counts)
    try reader.advance(scanningRemainder: true)
    return reader
  }

  /// The last position that was known to be durable at the last `refresh`.
  package var head: LogPosition { shownHead.withLock { $0 } }

  /// The number of blocks whose bodies were read and checked.
  package var blocksRead: Int { counts.blocks.load(ordering: .relaxed) }

  package func block(containing position: LogPosition) throws(LogError) -> Block {
    try catalog.block(containing: position, head: head)
  }

  package func candidateBlocks(of stream: UUIDBytes, from position: LogPosition) throws(LogError) -> CandidateBlocks {
    try catalog.candidateBlocks(of: stream, from: position, head: head)
  }

  package func start(notBefore time: Timestamp) throws(LogError) -> LogPosition {
    try catalog.start(notBefore: time, head: head)
  }

  /// Reads, checks and decompresses the block that holds a position, without parsing its records.
  /// - Returns: the number of decompressed bytes, and the block's last position.
  package func scan(_ position: LogPosition) throws(LogError) -> (bytes: Int, last: LogPosition) {
    let (body, last) = try catalog.body(containing: position, head: head)
    return (body.count, last)
  }

  /// Finds records that have become durable since the last refresh. The head only grows.
  package func refresh() throws(LogError) {
    try advance(scanningRemainder: false)
  }

  /// The segments at the last refresh.
  var segments: [Segment] { catalog.all }

  /// The number of damaged copies of the superblock. The other copy is used.
  var damagedSuperblockCopies: Int { superblockDamage.withLock { $0 } }

  /// Rejects files that have the suffix of a segment or tree head but not a valid name: the log did not create them.
  func checkNames() throws(LogError) {
    for name in try folder.names() ?? [] {
      let isStray =
        name.hasSuffix(SegmentName.suffix) && SegmentName.position(name) == nil
        || name.hasSuffix(CheckpointName.suffix) && CheckpointName.size(name) == nil
      guard !isStray else {
        throw LogError(FormatFlaw("a file with this name does not belong to a log"), at: .init(file: name))
      }
    }
  }

  /// Reads the tree heads that were stored when segments were sealed, in the order of their names.
  func storedHeads() throws(LogError) -> [(name: String, bytes: [UInt8])] {
    let names = (try folder.names() ?? []).filter { CheckpointName.size($0) != nil }.sorted()
    return try names.map { name throws(LogError) in
      // One byte over the limit is enough to reject the file.
      (name, try folder.open(name, .read, counts: counts).read(at: 0, count: SignedNote.maximumBytes + 1))
    }
  }

  // MARK: The tail

  /// - Parameter scanningRemainder: whether to read everything after the end too, which detects a hole in the log.
  private func advance(scanningRemainder: Bool) throws(LogError) {
    // The superblock is read first, so that everything it refers to is in the files when they are listed.
    guard let superblock = try folder.readSuperblock(counts: counts), superblock.identity == identity else {
      throw LogError(
        .corrupt, "The superblock is missing or belongs to another log.", location: .init(file: Superblock.fileName))
    }
    superblockDamage.withLock { $0 = superblock.damagedCopies }
    let firsts = try segmentFirsts()
    guard let tailFirst = firsts.last else {
      guard superblock.durable == .origin, head == .origin else {
        throw LogError(
          .corrupt, "All segments are missing; restore the log directory from a backup.",
          location: .init(file: "log", position: superblock.durable))
      }
      return
    }
    let known = catalog.all
    let oldTail = known.last
    let tail = try Segment(first: tailFirst, in: folder, identity: identity, counts: counts).keptOpen()
    let start = oldTail?.first == tailFirst ? oldTail?.knownIndex : nil
    let walked = try walkTail(
      tail, from: start, superblock: superblock, scanningRemainder: scanningRemainder || start == nil)
    guard let (index, durable) = walked else {
      // A server may have moved on to the next segment, and sealed this one, since the names were read.
      if try segmentFirsts().last != tailFirst { return try advance(scanningRemainder: scanningRemainder) }
      throw LogError(
        FormatFlaw("the last segment is sealed; the one that follows it is missing"),
        at: .init(file: tail.name, offset: 0, position: tailFirst))
    }
    tail.setIndex(index)
    let kept = Dictionary(uniqueKeysWithValues: known.dropLast().map { ($0.first, $0) })
    let segments = firsts.dropLast().map { first in
      kept[first] ?? Segment(first: first, in: folder, identity: identity, counts: counts)
    }
    shownHead.withLock { head in
      guard durable >= head else { return }
      catalog.replaceAll(segments + [tail])
      head = durable
    }
  }

  private func segmentFirsts() throws(LogError) -> [LogPosition] {
    (try folder.names() ?? []).compactMap(SegmentName.position).sorted()
  }

  /// Builds the index of the tail up to the last block that is known to be durable. Returns nil for a sealed segment,
  /// which is not a tail.
  ///
  /// A server may write while this reads. Evidence that the block at the end is durable means damage only if the block
  /// is still missing when the walk is repeated after reading the evidence.
  private func walkTail(
    _ tail: Segment, from start: BlockIndex?, superblock: Superblock, scanningRemainder: Bool
  ) throws(LogError) -> (index: BlockIndex, durable: LogPosition)? {
    let file = try tail.open()
    let (header, checksum) = try tail.header(file)
    if header.seal != nil { return nil }
    let fresh = BlockIndex(header, checksum: checksum)
    // A tail without blocks may have been replaced by a longer file of the same name.
    let index = start.flatMap { $0.isEmpty ? nil : $0 } ?? fresh
    var contradictedAt: UInt64?
    while true {
      let limit = min(try file.size(), header.segmentBytes)
      var walk = SegmentWalk(file, from: index, limit: limit)
      let end = try walk.run()
      let known = max(superblock.durable, walk.knownDurable)
      var flaw = FormatFlaw("the log ends before what is known to be durable (\(known))")
      var mustScan = scanningRemainder
      if case .flaw(let found) = end {
        flaw = found
        mustScan = true
      }
      var contradicts = known >= walk.next
      if !contradicts, mustScan {
        let rest = try SegmentRemainder(
          file, range: walk.offset..<max(walk.offset, limit), salt: header.salt, chain: walk.chain)
        contradicts = rest.contradicts(endBefore: walk.next)
      }
      if !contradicts {
        let durable = durablePart(of: walk, index: index, known: known)
        return (durable, LogPosition(durable.next.value - 1))
      }
      guard contradictedAt != walk.offset else {
        throw LogError(flaw, at: .init(file: tail.name, offset: walk.offset, position: walk.next))
      }
      contradictedAt = walk.offset
    }
  }

  private func durablePart(of walk: SegmentWalk, index: BlockIndex, known: LogPosition) -> BlockIndex {
    var index = index
    // A block is durable as a whole or not at all.
    for found in walk.found where found.header.first <= known {
      index.append(found.header, checksum: found.checksum)
    }
    return index
  }
}
