import ChatPrimitives

/// The dictionary and the UUID table to which the columns of a sealed segment refer.
struct ColumnTables: Sendable {
  var dictionary: [UInt8]
  var table: UUIDTable
}

/// A segment's file that is open for reading: its header is checked and its index is known. It stays valid when another
/// file replaces it under the segment's name.
struct OpenSegment: Sendable {
  let segment: Segment
  let file: LogFile
  let header: SegmentHeader
  /// Nil for the segment that the writer appends to, whose index grows.
  private let fixedIndex: BlockIndex?
  /// Nil for an active segment.
  let tables: ColumnTables?

  init(segment: Segment, file: LogFile, header: SegmentHeader, index: BlockIndex?) throws(LogError) {
    self.segment = segment
    self.file = file
    self.header = header
    fixedIndex = index
    guard let seal = header.seal else {
      tables = nil
      return
    }
    let dictionary = try file.section(seal.sections.dictionary)
    let table = try file.section(seal.sections.table)
    do {
      tables = ColumnTables(dictionary: dictionary, table: try UUIDTable(parsing: table))
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: UInt64(seal.sections.table.offset)))
    }
  }

  var index: BlockIndex {
    fixedIndex ?? segment.knownIndex ?? BlockIndex(header, checksum: 0)
  }

  /// Reads, checks and decodes one block.
  func block(_ location: BlockLocation) throws(LogError) -> Block {
    let bytes = try file.read(at: location.offset, count: location.bytes)
    file.counts.addBlock()
    do throws(FormatFlaw) {
      let block = try checkedHeader(location, bytes)
      let records = try block.records(bytes.span.bytes, tables: tables)
      let rawBytes = block.codec.isColumns ? records.reduce(0) { $0 + $1.rawBytes } : block.rawBytes
      return Block(
        first: block.first, records: records, storedBytes: location.bytes, rawBytes: rawBytes, codec: block.codec,
        segment: file.name, offset: location.offset)
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: location.offset, position: location.first))
    }
  }

  /// Reads and checks one block and decompresses its body, without looking at the records.
  func body(_ location: BlockLocation) throws(LogError) -> [UInt8] {
    let bytes = try file.read(at: location.offset, count: location.bytes)
    file.counts.addBlock()
    do throws(FormatFlaw) {
      return try checkedHeader(location, bytes).body(bytes.span.bytes, tables: tables)
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: location.offset, position: location.first))
    }
  }

  /// Reads and checks one block and returns its body as stored.
  func storedBody(_ location: BlockLocation) throws(LogError) -> (header: BlockHeader, stored: [UInt8]) {
    let bytes = try file.read(at: location.offset, count: location.bytes)
    file.counts.addBlock()
    do throws(FormatFlaw) {
      let block = try checkedHeader(location, bytes)
      let start = LogFormat.blockHeaderBytes
      return (block, Array(bytes[start..<start + block.storedBytes]))
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: location.offset, position: location.first))
    }
  }

  private func checkedHeader(_ location: BlockLocation, _ bytes: [UInt8]) throws(FormatFlaw) -> BlockHeader {
    let frame = bytes.span.bytes
    guard frame.byteCount == location.bytes, location.bytes >= LogFormat.blockHeaderBytes else {
      throw FormatFlaw("the block is cut short")
    }
    let block = try BlockHeader(parsing: frame.extracting(..<LogFormat.blockHeaderBytes))
    guard block.salt == header.salt, block.first == location.first, block.last == location.last,
      block.codec.isColumns == (header.seal != nil)
    else { throw FormatFlaw("there is a different block here") }
    try block.check(frame)
    return block
  }

  /// The blocks of a sealed segment that hold records of each of these streams. The result omits streams that have
  /// none. Nil for an active segment, which has no such index.
  func blocks(ofStreams streams: Set<UUIDBytes>) throws(LogError) -> [UUIDBytes: [BlockLocation]]? {
    guard let seal = header.seal, let tables else { return nil }
    let streamOfEntry = tables.table.numbers(of: streams)
    guard !streamOfEntry.isEmpty else { return [:] }
    let postings = try file.section(seal.sections.streams)
    let index = index
    var found: [UUIDBytes: [BlockLocation]] = [:]
    do {
      try StreamPostings.forEach(in: postings, entries: tables.table.count, blockCount: seal.blocks) { entry, blocks in
        if let stream = streamOfEntry[entry] { found[stream] = blocks.map(index.location) }
      }
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: UInt64(seal.sections.streams.offset)))
    }
    return found
  }

  /// The part of the tree that a sealed segment stores; nil for an active segment.
  func tree() throws(LogError) -> StoredTree? {
    guard let seal = header.seal else { return nil }
    let section = try file.section(seal.sections.tree)
    do {
      return try StoredTree(section, first: header.first.value, last: header.first.value + seal.records - 1)
    } catch {
      throw LogError(error, at: .init(file: file.name, offset: UInt64(seal.sections.tree.offset)))
    }
  }
}

extension LogFile {
  /// Reads, checks and decompresses a section of a sealed segment.
  func section(_ section: SealedSection) throws(LogError) -> [UInt8] {
    let stored = try read(at: UInt64(section.offset), count: section.storedBytes)
    do {
      return try section.decode(stored)
    } catch {
      throw LogError(error, at: .init(file: name, offset: UInt64(section.offset)))
    }
  }
}
