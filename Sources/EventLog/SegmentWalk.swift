import ChatPrimitives

/// Walks the block headers of a segment from front to back, for as long as each follows from the one before. Skips the
/// bodies.
struct SegmentWalk {
  /// A valid header in its correct place.
  struct Found {
    var header: BlockHeader
    var offset: UInt64
    var checksum: UInt32
  }

  /// Why the walk stopped.
  enum End {
    /// There is no space for another header.
    case full
    /// There are zeros in place of the next header: nothing was written here.
    case zeros
    /// There is something else in place of the next header.
    case flaw(FormatFlaw)
  }

  /// The number of bytes to read at a time.
  private static let windowBytes = 64 * 1024

  private let file: LogFile
  private let salt: UInt64
  private let isSealed: Bool
  /// The end of the file's contents, in bytes.
  private let limit: UInt64
  private var window: [UInt8] = []
  private var windowStart: UInt64 = 0

  private(set) var found: [Found] = []
  /// The offset of the next header.
  private(set) var offset: UInt64
  /// The position with which the next block begins.
  private(set) var next: LogPosition
  private(set) var chain: UInt32
  /// The highest durable position in the headers found.
  private(set) var knownDurable: LogPosition

  /// - Parameters:
  ///   - index: the index of the blocks before the start of the walk.
  ///   - limit: the end of the segment, in bytes.
  init(_ file: LogFile, from index: BlockIndex, limit: UInt64) {
    self.file = file
    self.limit = limit
    salt = index.salt
    isSealed = index.isSealed
    offset = index.endOffset
    next = index.next
    chain = index.chain
    knownDurable = LogPosition(index.next.value - 1)
    if !index.isEmpty {
      // The previous block may not be durable yet. Only the records before it are certain to be durable.
      knownDurable = LogPosition(index.location(at: index.count - 1).first.value - 1)
    }
  }

  /// Walks until no further block follows.
  /// - Throws: `log_io`; `log_wrong_version` for an intact header of another format version.
  mutating func run() throws(LogError) -> End {
    while true {
      guard limit >= offset, limit - offset >= UInt64(LogFormat.blockHeaderBytes) else { return .full }
      let start = try fill()
      let loaded = window
      let bytes = loaded.span.bytes
      guard bytes.byteCount - start >= LogFormat.blockHeaderBytes else { return .full }
      let headerBytes = bytes.extracting(start..<start + LogFormat.blockHeaderBytes)
      if headerBytes.isZero { return .zeros }
      do {
        let header = try BlockHeader(parsing: headerBytes)
        try check(header)
        let checksum = BlockHeader.checksum(in: headerBytes)
        found.append(Found(header: header, offset: offset, checksum: checksum))
        knownDurable = max(knownDurable, header.knownDurable)
        offset += UInt64(header.frameBytes)
        next = header.next
        chain = checksum
      } catch {
        if error.kind == .unknownVersion {
          throw LogError(error, at: .init(file: file.name, offset: offset, position: next))
        }
        return .flaw(error)
      }
    }
  }

  /// Checks that an intact header belongs at this offset.
  private func check(_ header: BlockHeader) throws(FormatFlaw) {
    guard header.salt == salt else { throw FormatFlaw("the block belongs to another segment") }
    guard header.first == next else {
      throw FormatFlaw("the block begins with position \(header.first) instead of \(next)")
    }
    guard header.codec.isColumns == isSealed else {
      throw FormatFlaw("the block has a codec of another kind of segment")
    }
    guard !isSealed || header.knownDurable.value + 1 == header.first.value else {
      throw FormatFlaw("the durable position of the block is not the one before it")
    }
    guard header.chain == chain else { throw FormatFlaw("the block does not continue the chain") }
    guard UInt64(header.frameBytes) <= limit - offset else {
      throw FormatFlaw("the block extends beyond the end of the segment")
    }
  }

  /// Reads the next header into the window, as far as the file has it.
  /// - Returns: the offset of the header in the window.
  private mutating func fill() throws(LogError) -> Int {
    let needed = offset + UInt64(LogFormat.blockHeaderBytes)
    if offset < windowStart || needed > windowStart + UInt64(window.count) {
      window = try file.read(at: offset, count: Int(min(UInt64(Self.windowBytes), limit - offset)))
      windowStart = offset
    }
    // The offset is within the window, whose length is an Int.
    return Int(offset - windowStart)
  }
}
