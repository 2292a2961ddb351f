import ChatPrimitives

@testable import EventLog

/// Tries the parts of a sealed segment that are not blocks. A segment header is nearly all zeros, so the input holds
/// only the rest: bytes 0 to 63, bytes 2112 to 2239, as many peaks as the header says, and the stored sections one
/// after the other. The input is tried unchanged, then with corrected offsets, lengths and checksums of the sections.
func fuzzFooter(_ input: [UInt8]) {
  let compact = CompactFooter(input)
  parseFooter(header: compact.header, sections: compact.sections)
  parseFooter(header: compact.fixedHeader, sections: compact.sections)
}

/// The format of the inputs.
struct CompactFooter {
  private static let startBytes = SegmentHeader.peaksOffset
  private static let sealBytes = 16 + SegmentSeal.byteCount
  private static let sealOffset = SegmentHeader.afterPeaksOffset

  /// The 4096 bytes of the header.
  let header: [UInt8]
  /// The bytes after the last block.
  let sections: [UInt8]

  init(_ input: [UInt8]) {
    var input = InputBytes(input)
    let start = input.take(Self.startBytes).resized(to: Self.startBytes)
    let seal = input.take(Self.sealBytes).resized(to: Self.sealBytes)
    let peaks = min(Int(start.number(at: 60, as: UInt32.self)), LogFormat.maximumMerklePeaks)
    let hashes = input.take(peaks * LogFormat.merklePeakBytes)
    header =
      (start + hashes).resized(to: Self.sealOffset) + seal.resized(to: LogFormat.segmentHeaderBytes - Self.sealOffset)
    sections = Array(input.rest)
  }

  /// Makes an input from a segment's header and sections.
  static func encode(header: [UInt8], sections: [UInt8]) -> [UInt8] {
    let peaks = Int(header.number(at: 60, as: UInt32.self)) * LogFormat.merklePeakBytes
    return Array(header[..<startBytes]) + Array(header[sealOffset..<sealOffset + sealBytes])
      + Array(header[startBytes..<startBytes + peaks]) + sections
  }

  /// The header with corrected values where a mutation cannot guess them.
  var fixedHeader: [UInt8] {
    var bytes = header
    bytes.write(LogFormat.segmentMagic, at: 0)
    bytes.write(UInt32(LogFormat.version), at: 8)
    if bytes.number(at: 12, as: UInt16.self) == SegmentHeader.Kind.sealed.rawValue { fixSections(&bytes) }
    bytes.fixChecksum(at: SegmentHeader.checksumOffset)
    return bytes
  }

  private func fixSections(_ bytes: inout [UInt8]) {
    let table = SegmentSeal.offset + 32
    let blocks = min(Int(bytes.number(at: SegmentSeal.offset + 16, as: UInt32.self)), 1 << 16)
    let least = LogFormat.segmentHeaderBytes + blocks * LogFormat.blockHeaderBytes
    let wanted = Int(bytes.number(at: table, as: UInt32.self)) % (1 << 24)
    var end = LogFormat.aligned(max(least, wanted))
    var taken = 0
    for number in 0..<5 {
      let place = table + number * SealedSection.byteCount
      let wasStored = bytes.number(at: place + 4, as: UInt32.self)
      let stored = min(Int(wasStored), sections.count - taken)
      let part = Array(sections[taken..<taken + stored])
      if wasStored == bytes.number(at: place + 8, as: UInt32.self) { bytes.write(UInt32(stored), at: place + 8) }
      bytes.write(UInt32(end), at: place)
      bytes.write(UInt32(stored), at: place + 4)
      bytes.write(CRC32C.of(part.span.bytes), at: place + 12)
      taken += stored
      end += stored
    }
    bytes.write(UInt64(end), at: SegmentHeader.afterPeaksOffset)
  }
}

private func parseFooter(header bytes: [UInt8], sections: [UInt8]) {
  guard let header = try? SegmentHeader(parsing: bytes.span.bytes) else { return }
  demand(header.encoded().bytes == bytes, "a segment header that parses encodes to the same bytes")
  guard let seal = header.seal else { return }
  let raw = seal.sections.all.map { section in
    let start = section.offset - seal.sections.dictionary.offset
    return sections.span.bytes.array(at: start, count: section.storedBytes).flatMap { try? section.decode($0) }
  }
  for (section, bytes) in zip(seal.sections.all, raw) {
    guard let bytes else { continue }
    demand(bytes.count == section.rawBytes, "a section decodes to its raw length")
    let (again, stored) = SealedSection.encode(bytes, at: section.offset)
    demand((try? again.decode(stored)) == bytes, "a section survives its bytes")
  }
  if let bytes = raw[0] { demand(bytes.count <= LogFormat.maximumDictionaryBytes, "a dictionary is within its limit") }
  if let bytes = raw[2], let index = try? BlockIndex(header, seal: seal, section: bytes) { use(index, header) }
  if let bytes = raw[1], let table = try? UUIDTable(parsing: bytes) {
    demand((0..<table.count).allSatisfy { table[$0] != nil } && table[table.count] == nil, "a table knows its end")
    if let numbers = table.distinctNumbers {
      demand(table.numbers(of: Set(numbers.keys)).count == table.count, "each UUID of a table is found")
    }
    if let streams = raw[3] { readPostings(streams, entries: table.count, blocks: seal.blocks) }
  }
  if let bytes = raw[4] { readTree(bytes, first: header.first.value, records: seal.records) }
}

private func use(_ index: BlockIndex, _ header: SegmentHeader) {
  var next = header.first
  for number in 0..<index.count {
    let location = index.location(at: number)
    demand(location.first == next && location.first <= location.last, "the blocks of an index are dense")
    demand(location.bytes >= LogFormat.blockHeaderBytes, "a block has room for its header")
    demand(
      index.location(of: location.first) == location && index.location(of: location.last) == location,
      "a position finds its block")
    next = location.last.next
  }
  demand(next == index.next && index.location(of: next) == nil, "an index ends with the segment")
  for time in index.lastTimes { demand(index.firstBlock(notBefore: time) != nil, "a time finds a block") }
}

private func readPostings(_ bytes: [UInt8], entries: Int, blocks: Int) {
  var postings = StreamPostings(tableCount: entries)
  do throws(FormatFlaw) {
    try StreamPostings.forEach(in: bytes, entries: entries, blockCount: blocks) { (entry, list) throws(FormatFlaw) in
      demand(
        list.allSatisfy { $0 < blocks } && zip(list, list.dropFirst()).allSatisfy { $0 < $1 }, "postings name blocks")
      // A block number is below the count, which has 32 bits in the header.
      for block in list { postings.note(stream: entry, block: UInt32(block)) }
    }
  } catch {
    return
  }
  demand(postings.encoded() == bytes, "postings that parse encode to the same bytes")
}

private func readTree(_ bytes: [UInt8], first: UInt64, records: UInt64) {
  let last = first + records - 1
  guard let tree = try? StoredTree(bytes, first: first, last: last), let end = try? tree.end() else { return }
  demand(end.count == last, "the tree ends with the segment")
  var completed: [[MerkleHash]] = []
  for level in MerkleTree.storedLevel..<UInt64.bitWidth {
    let numbers = (first - 1) >> UInt64(level)..<last >> UInt64(level)
    if numbers.isEmpty { break }
    completed.append(numbers.compactMap { tree.node(level: level, number: $0) })
    demand(tree.node(level: level, number: numbers.upperBound) == nil, "a node of a later segment is not stored")
  }
  demand(StoredTree.encode(end: end, completed: completed) == bytes, "a tree that parses encodes to the same bytes")
}
