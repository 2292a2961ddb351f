import ChatPrimitives
import Synchronization

/// One segment for reading. Its index is built when it is first needed; the file is open only while it is read, but
/// for the writer's own segment.
final class Segment: Sendable {
  let name: String
  let first: LogPosition
  private let folder: LogFolder
  private let identity: LogIdentity
  private let counts: ReadCounts
  private let held: LogFile?
  private let index: Mutex<BlockIndex?>

  /// - Parameters:
  ///   - held: the file, where someone keeps it open anyway.
  ///   - index: nil to build it when it is needed.
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

  /// The same segment after the writer has left it.
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
      guard header.first == first else { throw FormatFlaw("the segment begins with \(header.first), not as named") }
      return (header, SegmentHeader.checksum(in: bytes.span.bytes))
    } catch {
      throw LogError(error, at: .init(file: name, offset: 0, position: first))
    }
  }

  // MARK: Index

  /// The index as far as it is known, without reading anything.
  var knownIndex: BlockIndex? { index.withLock { $0 } }

  func setIndex(_ newIndex: BlockIndex) {
    index.withLock { $0 = newIndex }
  }

  /// Adds the block that follows the index; one that it has already is left out.
  func addToIndex(_ header: BlockHeader, checksum: UInt32) {
    index.withLock { index in
      if index?.next == header.first { index?.append(header, checksum: checksum) }
    }
  }

  /// The index, built by a walk over the whole segment when it is not there yet.
  /// - Parameter successor: the segment that follows; it says where this one must end.
  func index(before successor: Segment?) throws(LogError) -> BlockIndex {
    if let known = knownIndex { return known }
    guard let successor else {
      throw LogError(
        .corrupt, "The last segment has no index.", location: .init(file: name, offset: nil, position: first))
    }
    let built = try walkWhole(before: successor)
    setIndex(built)
    return built
  }

  /// Walks a full segment, and checks what an open tail cannot be checked for: that it ends where the next begins.
  func walkWhole(before successor: Segment) throws(LogError) -> BlockIndex {
    let file = try open()
    let (header, checksum) = try header(file)
    let (following, _) = try successor.header(successor.open())
    let size = try file.size()
    var index = BlockIndex(header, checksum: checksum)
    guard size == header.segmentBytes else {
      throw LogError(
        FormatFlaw("the segment has \(size) bytes in place of \(header.segmentBytes)"),
        at: .init(file: name, offset: min(size, header.segmentBytes)))
    }
    var walk = SegmentWalk(file, from: index, limit: header.segmentBytes)
    let end = try walk.run()
    for found in walk.found {
      index.append(found.header, checksum: found.checksum)
    }
    let place = LogError.Location(file: name, offset: walk.offset, position: walk.next)
    guard walk.next == following.first else {
      if case .flaw(let flaw) = end { throw LogError(flaw, at: place) }
      throw LogError(FormatFlaw("the segment ends here, the next begins with \(following.first)"), at: place)
    }
    guard walk.chain == following.previousChecksum else {
      throw LogError(
        FormatFlaw("the segment does not follow from the one before it"),
        at: .init(file: successor.name, offset: 0, position: successor.first))
    }
    let rest = try SegmentRemainder(file, range: walk.offset..<header.segmentBytes, salt: header.salt)
    guard rest.writtenEnd == nil else {
      throw LogError(FormatFlaw("bytes that are not zero follow the last block"), at: place)
    }
    return index
  }

  // MARK: Blocks

  /// Reads, checks and decodes one block.
  func read(_ place: BlockPlace, salt: UInt64, from file: LogFile) throws(LogError) -> Block {
    let bytes = try file.read(at: place.offset, count: place.bytes)
    counts.addBlock()
    let frame = bytes.span.bytes
    do throws(FormatFlaw) {
      guard frame.byteCount == place.bytes, place.bytes >= LogFormat.blockHeaderBytes else {
        throw FormatFlaw("the block is cut short")
      }
      let header = try BlockHeader(parsing: frame.extracting(..<LogFormat.blockHeaderBytes))
      guard header.salt == salt, header.first == place.first, header.last == place.last else {
        throw FormatFlaw("another block stands here")
      }
      try header.check(frame)
      return Block(
        first: header.first, records: try header.records(frame), storedBytes: place.bytes, rawBytes: header.rawBytes,
        codec: header.codec, segment: name, offset: place.offset)
    } catch {
      throw LogError(error, at: .init(file: name, offset: place.offset, position: place.first))
    }
  }
}
