import ChatPrimitives

/// Walks the block headers of a segment from front to back, as far as each follows from the one before. Bodies are
/// passed over.
struct SegmentWalk {
  /// A header that holds in its place.
  struct Found {
    var header: BlockHeader
    var offset: UInt64
    var checksum: UInt32
  }

  /// Why the walk stopped.
  enum End {
    /// There is no room for another header.
    case full
    /// Zeros stand where the next header would: nothing was written here.
    case zeros
    /// Something else stands there.
    case flaw(FormatFlaw)
  }

  /// Read at a time, in bytes.
  private static let windowBytes = 64 * 1024

  private let file: LogFile
  private let salt: UInt64
  private let isSealed: Bool
  /// End of what the file holds.
  private let limit: UInt64
  private var window: [UInt8] = []
  private var windowStart: UInt64 = 0

  private(set) var found: [Found] = []
  /// Where the next header would stand.
  private(set) var offset: UInt64
  /// The position that it would begin with.
  private(set) var next: LogPosition
  private(set) var chain: UInt32
  /// The highest durable position that a header found tells of.
  private(set) var knownDurable: LogPosition

  /// - Parameters:
  ///   - index: where to begin.
  ///   - limit: end of the segment, in bytes.
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
      // The block before may not be durable yet; nothing more than its own first position is certain.
      knownDurable = LogPosition(index.place(at: index.count - 1).first.value - 1)
    }
  }

  /// Goes on to the first place where no block follows.
  /// - Throws: `log_io`; `log_wrong_version` for an intact header of another format.
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

  /// Whether an intact header belongs here.
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

  /// Makes the window hold the next header, as far as the file has it.
  /// - Returns: where it begins in the window.
  private mutating func fill() throws(LogError) -> Int {
    let needed = offset + UInt64(LogFormat.blockHeaderBytes)
    if offset < windowStart || needed > windowStart + UInt64(window.count) {
      window = try file.read(at: offset, count: Int(min(UInt64(Self.windowBytes), limit - offset)))
      windowStart = offset
    }
    // Within the window, whose length is an Int.
    return Int(offset - windowStart)
  }
}
