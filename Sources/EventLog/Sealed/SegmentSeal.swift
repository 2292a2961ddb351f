import ChatPrimitives

/// The fields that the header of a sealed segment has in addition to those of an active one.
struct SegmentSeal: Hashable {
  /// The peaks of the tree over all records before the segment, largest first, 32 bytes each.
  var peaks: [UInt8]
  /// The number of records in the segment.
  var records: UInt64
  /// The recorded time of the last record.
  var lastTime: Timestamp
  var blocks: Int
  /// The checksum of the last block header.
  var chain: UInt32
  /// The checksum of the last block header that the segment had while it was active. The next segment repeats it.
  var activeChain: UInt32
  var sections: SealedSections
}

/// The locations of the sections of a sealed segment, which are the parts that are not blocks.
struct SealedSections: Hashable {
  var dictionary: SealedSection
  var table: SealedSection
  var index: SealedSection
  var streams: SealedSection
  var tree: SealedSection

  /// All sections in the order of the file.
  var all: [SealedSection] { [dictionary, table, index, streams, tree] }
}

/// The location, lengths and checksum of one section.
struct SealedSection: Hashable {
  var offset: Int
  var storedBytes: Int
  var rawBytes: Int
  /// CRC32C of the stored bytes.
  var checksum: UInt32

  var end: Int { offset + storedBytes }
}

// MARK: - Bytes

extension SegmentSeal {
  /// The offset in the segment header.
  static let offset = SegmentHeader.afterPeaksOffset + 16
  static let byteCount = 32 + 5 * SealedSection.byteCount
  /// The length of one entry of the index section, in bytes.
  static let indexEntryBytes = 32

  func encode(into target: UnsafeMutableRawBufferPointer) {
    let start = Self.offset
    target.put(records, at: start)
    target.put(lastTime.milliseconds, at: start + 8)
    // The segment's length bounds the next values, and it fits 32 bits.
    target.put(UInt32(blocks), at: start + 16)
    target.put(chain, at: start + 20)
    target.put(activeChain, at: start + 24)
    for (number, section) in sections.all.enumerated() {
      section.encode(into: target, at: start + 32 + number * SealedSection.byteCount)
    }
  }

  /// - Parameter header: the 4096 bytes. Their checksum must be verified already.
  init(parsing header: RawSpan, first: UInt64, peakCount: UInt32, segmentBytes: UInt64) throws(FormatFlaw) {
    let start = Self.offset
    guard let records = header.integer(at: start, as: UInt64.self),
      let lastTime = header.integer(at: start + 8, as: Int64.self),
      let blocks = header.integer(at: start + 16, as: UInt32.self),
      let chain = header.integer(at: start + 20, as: UInt32.self),
      let activeChain = header.integer(at: start + 24, as: UInt32.self),
      let peaks = header.array(
        at: SegmentHeader.peaksOffset, count: (first - 1).nonzeroBitCount * LogFormat.merklePeakBytes)
    else { throw FormatFlaw("the seal is cut short") }
    guard Int(peakCount) == (first - 1).nonzeroBitCount else {
      throw FormatFlaw("the seal has \(peakCount) Merkle peaks before position \(first)")
    }
    guard header.isZero(SegmentHeader.peaksOffset + peaks.count..<SegmentHeader.afterPeaksOffset),
      header.isZero(start + 28..<start + 32), header.isZero(start + Self.byteCount..<SegmentHeader.checksumOffset)
    else { throw FormatFlaw("the seal has unknown flags", kind: .unknownVersion) }
    guard records >= 1, records <= LogFormat.maximumPosition.value - first + 1, blocks >= 1, UInt64(blocks) <= records
    else { throw FormatFlaw("the seal's \(records) records in \(blocks) blocks are out of bounds") }
    let sections = try (0..<5).map { number throws(FormatFlaw) in
      try SealedSection(parsing: header, at: start + 32 + number * SealedSection.byteCount)
    }
    self.peaks = peaks
    self.records = records
    self.lastTime = Timestamp(milliseconds: lastTime)
    self.blocks = Int(blocks)
    self.chain = chain
    self.activeChain = activeChain
    self.sections = SealedSections(
      dictionary: sections[0], table: sections[1], index: sections[2], streams: sections[3], tree: sections[4])
    try checkSections(last: first + records - 1, segmentBytes: segmentBytes)
  }

  private func checkSections(last: UInt64, segmentBytes: UInt64) throws(FormatFlaw) {
    var end = LogFormat.segmentHeaderBytes + blocks * LogFormat.blockHeaderBytes
    guard sections.dictionary.offset >= end, sections.dictionary.offset % LogFormat.blockAlignment == 0 else {
      throw FormatFlaw("the seal's first section begins at \(sections.dictionary.offset)")
    }
    end = sections.dictionary.offset
    for section in sections.all {
      guard section.offset == end else { throw FormatFlaw("the sections of the seal are not contiguous") }
      end = section.end
    }
    guard UInt64(end) == segmentBytes else { throw FormatFlaw("the sections end at \(end), the segment does not") }
    // A record has at most six UUIDs. The streams section has a count for each table entry, and a block number for each
    // record, of at most five bytes each.
    let mostEntries = UInt64(sections.table.rawBytes / UUIDBytes.byteCount)
    guard records <= UInt64(LogFormat.maximumSegmentBytes), mostEntries <= 6 * records,
      UInt64(sections.streams.rawBytes) <= 5 * (mostEntries + records)
    else { throw FormatFlaw("the table or the streams are longer than the seal's number of records allows") }
    guard sections.dictionary.rawBytes <= LogFormat.maximumDictionaryBytes,
      sections.table.rawBytes % UUIDBytes.byteCount == 0,
      sections.index.rawBytes == blocks * Self.indexEntryBytes,
      sections.tree.rawBytes == StoredTree.byteCount(first: last - records + 1, last: last)
    else { throw FormatFlaw("a section of the seal has a length that does not fit the segment") }
  }
}

extension SealedSection {
  static let byteCount = 16

  func encode(into target: UnsafeMutableRawBufferPointer, at start: Int) {
    // The segment's length bounds these values, and it fits 32 bits.
    target.put(UInt32(offset), at: start)
    target.put(UInt32(storedBytes), at: start + 4)
    target.put(UInt32(rawBytes), at: start + 8)
    target.put(checksum, at: start + 12)
  }

  init(parsing bytes: RawSpan, at start: Int) throws(FormatFlaw) {
    guard let offset = bytes.integer(at: start, as: UInt32.self),
      let stored = bytes.integer(at: start + 4, as: UInt32.self),
      let raw = bytes.integer(at: start + 8, as: UInt32.self),
      let checksum = bytes.integer(at: start + 12, as: UInt32.self)
    else { throw FormatFlaw("a section of the seal is cut short") }
    guard stored <= raw, Int(raw) <= Int(stored) * LogFormat.maximumSectionRatio else {
      throw FormatFlaw("a section of the seal has \(stored) bytes for \(raw)")
    }
    self.init(offset: Int(offset), storedBytes: Int(stored), rawBytes: Int(raw), checksum: checksum)
  }
}

// MARK: - Content of a section

extension SealedSection {
  /// Encodes a section that begins at an offset.
  /// - Returns: the section, and the bytes to store.
  static func encode(_ raw: [UInt8], at offset: Int) -> (section: SealedSection, stored: [UInt8]) {
    var stored = DenseCompressor().compress(raw)
    if stored.count >= raw.count { stored = raw }
    let checksum = CRC32C.of(stored.span.bytes)
    return (
      SealedSection(offset: offset, storedBytes: stored.count, rawBytes: raw.count, checksum: checksum), stored
    )
  }

  /// Checks and decompresses the stored bytes of a section.
  func decode(_ stored: [UInt8]) throws(FormatFlaw) -> [UInt8] {
    guard stored.count == storedBytes, CRC32C.of(stored.span.bytes) == checksum else {
      throw FormatFlaw("the checksum of a section does not match")
    }
    if storedBytes == rawBytes { return stored }
    return try BlockCodec.lz4.decode(stored.span.bytes, rawBytes: rawBytes)
  }
}
