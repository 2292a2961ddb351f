import ChatPrimitives
import Synchronization

/// One segment, for reading. Its index is built on first use. The file is open only during reads, except for the
/// segment that the writer appends to.
final class Segment: Sendable {
  let name: String
  let first: LogPosition
  private let folder: LogFolder
  private let identity: LogIdentity
  private let counts: ReadCounts
  private let held: LogFile?
  private let index: Mutex<BlockIndex?>

  /// - Parameters:
  ///   - held: the file, if it is kept open anyway.
  ///   - index: nil to build the index on first use.
  init(
    first: LogPosition, in folder: LogFolder, identity: LogIdentity, counts: ReadCounts, held: LogFile? = nil,
    index: BlockIndex? = nil
  ) {
    self.name = SegmentName.of(first)
    self.first = first
    self.folder = folder
    self.identity = identity
    self.counts = counts
    self.held = held
    self.index = Mutex(index)
  }

  /// The same segment with its file kept open, so that it stays valid when a sealed file replaces it under its name.
  func keptOpen() throws(LogError) -> Segment {
    Segment(
      first: first, in: folder, identity: identity, counts: counts, held: try open(), index: index.withLock { $0 })
  }

  /// The same segment after the writer has moved on to the next.
  func released() -> Segment {
    Segment(
      first: first, in: folder, identity: identity, counts: counts, index: index.withLock { $0 })
  }

  func open() throws(LogError) -> LogFile {
    if let held { return held }
    return try folder.open(name, .read, counts: counts)
  }

  /// Reads the header and checks that it belongs to this log and this file.
  func header(_ file: LogFile) throws(LogError) -> (header: SegmentHeader, checksum: UInt32) {
    let bytes = try file.read(at: 0, count: LogFormat.segmentHeaderBytes)
    do throws(FormatFlaw) {
      let header = try SegmentHeader(parsing: bytes.span.bytes)
      guard header.identity == identity else {
        throw FormatFlaw("the segment belongs to the log \(header.identity), not to \(identity)")
      }
      guard header.first == first else {
        throw FormatFlaw("the segment begins with position \(header.first), which does not match its name")
      }
      return (header, SegmentHeader.checksum(in: bytes.span.bytes))
    } catch {
      throw LogError(error, at: .init(file: name, offset: 0, position: first))
    }
  }

  /// Opens the file for reading blocks. Reads or builds the index if it is not known or belongs to another file: a
  /// segment that was sealed meanwhile has a different index.
  /// - Parameter successor: the next segment, which determines where this one must end; nil for the last.
  func opened(before successor: Segment?) throws(LogError) -> OpenSegment {
    let file = try open()
    let (header, checksum) = try header(file)
    guard let successor else {
      if header.seal != nil || knownIndex == nil {
        throw LogError(
          FormatFlaw("the last segment is sealed or has no index"),
          at: .init(file: name, offset: 0, position: first))
      }
      return try OpenSegment(segment: self, file: file, header: header, index: nil)
    }
    if let known = knownIndex, known.salt == header.salt {
      return try OpenSegment(segment: self, file: file, header: header, index: known)
    }
    let index: BlockIndex
    if let seal = header.seal {
      index = try sealedIndex(header, seal, file, before: successor)
    } else {
      index = try walkWhole(file, header, checksum: checksum, before: successor)
    }
    setIndex(index)
    return try OpenSegment(segment: self, file: file, header: header, index: index)
  }

  /// Whether both files are the same sealed segment. Sealing a segment gives it a new random salt, and a sealed file is
  /// never changed, so equal headers suffice.
  func isSealedLike(_ other: Segment) throws(LogError) -> Bool {
    let (own, others) = (try open(), try other.open())
    let header = try header(own).header
    guard header.seal != nil, try other.header(others).header == header else { return false }
    let (ownBytes, otherBytes) = (try own.size(), try others.size())
    return ownBytes == otherBytes
  }

  /// Whether the file is sealed. Reads the header if that is not known.
  func isSealed() throws(LogError) -> Bool {
    if let known = knownIndex, known.isSealed { return true }
    return try header(open()).header.seal != nil
  }

  // MARK: Index

  /// The part of the index that is known, without reading anything.
  var knownIndex: BlockIndex? { index.withLock { $0 } }

  func setIndex(_ newIndex: BlockIndex) {
    index.withLock { $0 = newIndex }
  }

  /// Adds the next block to the index, unless the index already has it.
  func addToIndex(_ header: BlockHeader, checksum: UInt32) {
    index.withLock { index in
      if index?.next == header.first { index?.append(header, checksum: checksum) }
    }
  }

  /// Reads the index of a sealed segment, and checks that the next segment continues it.
  private func sealedIndex(
    _ header: SegmentHeader, _ seal: SegmentSeal, _ file: LogFile, before successor: Segment
  ) throws(LogError) -> BlockIndex {
    try checkSize(file, header)
    try checkSuccessor(successor, next: LogPosition(first.value + seal.records), chain: seal.activeChain)
    let section = try file.section(seal.sections.index)
    do {
      return try BlockIndex(header, seal: seal, section: section)
    } catch {
      throw LogError(error, at: .init(file: name, offset: UInt64(seal.sections.index.offset)))
    }
  }

  /// Walks a full active segment and checks that it ends where the next one begins. An open tail cannot be checked for
  /// that.
  func walkWhole(
    _ file: LogFile, _ header: SegmentHeader, checksum: UInt32, before successor: Segment
  ) throws(LogError) -> BlockIndex {
    try checkSize(file, header)
    var index = BlockIndex(header, checksum: checksum)
    var walk = SegmentWalk(file, from: index, limit: header.segmentBytes)
    let end = try walk.run()
    for found in walk.found {
      index.append(found.header, checksum: found.checksum)
    }
    let location = LogError.Location(file: name, offset: walk.offset, position: walk.next)
    let (following, _) = try successor.header(successor.open())
    guard walk.next == following.first else {
      if case .flaw(let flaw) = end { throw LogError(flaw, at: location) }
      throw LogError(FormatFlaw("the segment ends here, but the next begins with \(following.first)"), at: location)
    }
    try checkSuccessor(successor, next: walk.next, chain: walk.chain)
    let rest = try SegmentRemainder(file, range: walk.offset..<header.segmentBytes, salt: header.salt)
    guard rest.writtenEnd == nil else {
      throw LogError(FormatFlaw("bytes that are not zero follow the last block"), at: location)
    }
    return index
  }

  private func checkSize(_ file: LogFile, _ header: SegmentHeader) throws(LogError) {
    let size = try file.size()
    guard size == header.segmentBytes else {
      throw LogError(
        FormatFlaw("the segment has \(size) bytes instead of \(header.segmentBytes)"),
        at: .init(file: name, offset: min(size, header.segmentBytes)))
    }
  }

  /// - Parameter chain: the checksum of the last block header that this segment had while it was active.
  private func checkSuccessor(_ successor: Segment, next: LogPosition, chain: UInt32) throws(LogError) {
    let (following, _) = try successor.header(successor.open())
    guard following.first == next, following.previousChecksum == chain else {
      throw LogError(
        FormatFlaw("the segment does not continue the one before it"),
        at: .init(file: successor.name, offset: 0, position: successor.first))
    }
  }
}
