import ChatPrimitives
private import Glibc

@testable import ChatService
@testable import EventLog

/// Writes the seed corpus: small samples of what the log itself writes, and of what clients send. The bytes are the same
/// each time.
struct Seeds {
  /// The parent directory of the targets' folders.
  let directory: String

  private static let time = Timestamp(milliseconds: 1_767_225_600_000)
  private static let first = LogPosition(1)

  func write() throws {
    try writeEnvelopes()
    try writeRows()
    try writeColumns()
    try writeSegments()
    try writeSmallFooter()
    try writeNotes()
    try writeSockets()
    try writeCursors()
  }

  private func put(_ bytes: [UInt8], _ target: FuzzTarget, _ name: String) throws {
    let folder = "\(directory)/\(target.rawValue)"
    let disk = PosixDisk()
    try disk.createDirectory(folder)
    // Removes the seed of an earlier run if there is one.
    try? disk.remove("\(folder)/\(name)")
    let file = try disk.open("\(folder)/\(name)", .createNew)
    let span = bytes.span.bytes
    let written = try span.withUnsafeBytes { (raw) throws(DiskError) in try file.write(raw, at: 0) }
    demand(written == bytes.count, "a seed is written whole")
  }

  // MARK: Records

  /// A record for each form and each combination of optional fields, by its number.
  static func record(_ number: UInt64) -> LogRecord {
    let milliseconds = time.milliseconds + Int64(number) * 7
    func uuid(_ bit: UInt64) -> UUIDBytes? {
      guard number & (1 << bit) != 0 else { return nil }
      // The subject and the command have version 7 and occur once. The others have only a few values.
      return bit < 3
        ? UUIDBytes(high: bit + 1, low: number % 5)
        : UUIDBytes(high: UInt64(milliseconds) << 16 | 0x7000 | bit, low: 0x8000_0000_0000_0000 | number &* 0x9e37_79b9)
    }
    let envelope = RecordEnvelope(
      kind: UInt16(number % 4 + 1), payloadVersion: 1, streamKind: UInt8(number % 3),
      stream: UUIDBytes(high: 0xa1a2_a3a4, low: number % 3), streamVersion: StreamVersion(number / 3 + 1),
      time: Timestamp(milliseconds: milliseconds), actor: uuid(0), service: uuid(1), device: uuid(2), subject: uuid(3),
      command: uuid(4), originalTime: number & 32 == 0 ? nil : Timestamp(milliseconds: milliseconds - 1000))
    let text = Array("message \(number), message \(number * 3)".utf8)
    let payload: RecordPayload =
      switch number % 6 {
      case 1: .erased(digest: [UInt8](repeating: UInt8(number % 256), count: LogFormat.digestBytes))
      case 2: .retainedWithSalt(text, salt: [UInt8](repeating: UInt8(number % 256), count: LogFormat.saltBytes))
      case 3: .retained([])
      case 4: .retained([0x12, UInt8(text.count)] + text)
      default: .retained(text)
      }
    return LogRecord(position: LogPosition(number), envelope: envelope, payload: payload)
  }

  private static func builder(from first: UInt64, count: UInt64) throws -> BlockBuilder {
    var builder = BlockBuilder(first: LogPosition(first))
    for number in first..<first + count {
      let record = record(number)
      try builder.append(record.envelope, payload: record.payload)
    }
    return builder
  }

  private func writeEnvelopes() throws {
    for number in [UInt64(0), 1, 8, 9, 31, 32, 63] {
      try put(Self.record(number).envelope.encoded(), .envelope, "presence-\(number)")
    }
  }

  private static func prefix(codec: UInt8, count: Int, raw: Int) -> [UInt8] {
    [codec] + (0..<2).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
      + (0..<3).map { UInt8(truncatingIfNeeded: raw >> ($0 * 8)) }
  }

  private func writeRows() throws {
    for count in [1, 2, 6, 40] {
      let raw = try Self.builder(from: UInt64(count), count: UInt64(count)).raw
      try put(Self.prefix(codec: 0, count: count, raw: raw.count) + raw, .rows, "stored-\(count)")
      let packed = DenseCompressor().compress(raw)
      try put(Self.prefix(codec: 1, count: count, raw: raw.count) + packed, .rows, "lz4-\(count)")
    }
  }

  private func writeColumns() throws {
    for count in [1, 3, 12, 64] {
      let records = (1...UInt64(count)).map(Self.record)
      var survey = SegmentSurvey(blocks: 1)
      survey.add(records, unresolved: [])
      let (table, numbers) = survey.census.table()
      let dictionary = Array(survey.dictionary().prefix(200))
      var writer = ColumnWriter(numbers: numbers)
      for record in records { writer.append(record) }
      let raw = writer.finished()
      let entries = table.count / UUIDBytes.byteCount
      let tables =
        [UInt8(truncatingIfNeeded: entries)]
        + (0..<2).map { UInt8(truncatingIfNeeded: dictionary.count >> ($0 * 8)) } + table + dictionary
      try put(Self.prefix(codec: 0, count: count, raw: raw.count) + tables + raw, .columns, "stored-\(count)")
      let packed = DenseCompressor(dictionary: dictionary).compress(raw)
      try put(Self.prefix(codec: 1, count: count, raw: raw.count) + tables + packed, .columns, "lz4-\(count)")
    }
  }

  // MARK: Files of a log

  /// A small log, sealed except for its tail: its superblock, headers and footers.
  private func writeSegments() throws {
    let data = "\(directory)/log-of-seeds"
    let disk = PosixDisk()
    let options = LogOptions(
      segmentBytes: 128 * 1024, preparesAhead: false, sealsInBackground: false, now: { Self.time }, random: { 0x5a5a })
    let log = try EmbeddedLog.open(directory: data, disk: disk, options: options)
    for _ in 0..<200 { try log.append(Self.builder(from: log.head.next.value, count: 40)) }
    while try log.sealNext() {}
    try log.close()
    for name in try disk.list("\(data)/log") ?? [] {
      let file = try disk.open("\(data)/log/\(name)", .read)
      let length = Int(try file.size())
      var bytes = [UInt8](repeating: 0, count: length)
      let read = try Self.read(file, into: &bytes)
      demand(read == length, "a file of the log is read whole")
      if name == Superblock.fileName { try put(Array(bytes[..<48]), .header, name) }
      if name.hasSuffix(SegmentName.suffix) { try writeSegment(bytes, name) }
      try disk.remove("\(data)/log/\(name)")
    }
    for name in try disk.list(data) ?? [] where name != "log" { try disk.remove("\(data)/\(name)") }
    rmdir("\(data)/log")
    rmdir(data)
  }

  private static func read(_ file: any DiskFile, into bytes: inout [UInt8]) throws(DiskError) -> Int {
    var result: Result<Int, DiskError> = .success(0)
    bytes.withUnsafeMutableBytes { buffer in
      result = Result { () throws(DiskError) in try file.read(into: buffer, at: 0) }
    }
    return try result.get()
  }

  private func writeSegment(_ bytes: [UInt8], _ name: String) throws {
    let header = Array(bytes[..<LogFormat.segmentHeaderBytes])
    let seal = try SegmentHeader(parsing: header.span.bytes).seal
    let sections = seal.map { Array(bytes[$0.sections.dictionary.offset...]) } ?? []
    try put(CompactFooter.encode(header: header, sections: sections), .footer, name)
    let block = bytes[LogFormat.segmentHeaderBytes...].prefix(LogFormat.blockHeaderBytes)
    try put(Array(block), .header, name)
  }

  /// A footer with few bytes, so that mutations often hit each part: three blocks, and one node of the tree.
  private func writeSmallFooter() throws {
    let start: UInt64 = 241
    var frontier = MerkleFrontier()
    for number in 1..<start { frontier.append(try Self.record(number).leaf(author: .none)) }
    let peaks = frontier.peaks.flatMap(\.bytes)
    let blocks = stride(from: start, to: start + 60, by: 20).map { first in (first..<first + 20).map(Self.record) }
    var census = UUIDCensus()
    for record in blocks.joined() { census.count(record.envelope) }
    let (table, numbers) = census.table()
    var contents = SealedContents(numbers: numbers)
    var offset = LogFormat.segmentHeaderBytes
    for block in blocks {
      try contents.add(block, at: offset)
      for record in block { frontier.append(try record.leaf(author: .none)) { contents.add($0) } }
      offset += 1024
    }
    var sections: [SealedSection] = []
    var bytes: [UInt8] = []
    for raw in [Array("message ".utf8), table, contents.index, contents.streams, contents.tree(end: frontier)] {
      let (section, stored) = SealedSection.encode(raw, at: offset + bytes.count)
      sections.append(section)
      bytes += stored
    }
    let seal = SegmentSeal(
      peaks: peaks, records: 60, lastTime: Self.record(start + 59).envelope.time, blocks: blocks.count, chain: 1,
      activeChain: 2,
      sections: SealedSections(
        dictionary: sections[0], table: sections[1], index: sections[2], streams: sections[3], tree: sections[4]))
    let header = SegmentHeader(
      identity: NoteKey.identity, first: LogPosition(start), salt: 3, created: Self.time, previousChecksum: 4,
      segmentBytes: UInt64(offset + bytes.count), lastTime: Self.record(start - 1).envelope.time, seal: seal)
    try put(CompactFooter.encode(header: header.encoded().bytes, sections: bytes), .footer, "small")
  }

  // MARK: Sockets

  private func writeSockets() throws {
    for seed in SocketSeeds.frames { try put(seed.bytes, .frames, seed.name) }
    for seed in SocketSeeds.engine { try put(seed.bytes, .engine, seed.name) }
    for seed in SocketSeeds.socket { try put(seed.bytes, .socket, seed.name) }
    for seed in FormSeeds.forms { try put(seed.bytes, .forms, seed.name) }
  }

  /// A cursor of each kind, as a text and as bytes.
  private func writeCursors() throws {
    let group = SyncGroup(previous: nil, last: RoomID(UUIDBytes(high: 7, low: 8)))
    let progress = SyncProgress(
      target: LogPosition(300), part: 2, group: group, reached: LogPosition(129), key: Array("key".utf8))
    let stages: [(name: String, stage: SyncPosition.Stage)] = [
      ("complete", .complete), ("catching-up", .catchingUp(progress)), ("initial", .initial(progress)),
    ]
    for (name, stage) in stages {
      let cursor = SyncCursor(SyncPosition(LogPosition(128), stage), logMark: 0xa1a2_a3a4, digest: 0xd1d2_d3d4)
      try put(Array(cursor.text.utf8), .cursors, "text-\(name)")
      try put(cursor.bytes, .cursors, "bytes-\(name)")
    }
  }

  // MARK: Texts

  private func writeNotes() throws {
    guard let key = NoteKey.key else { fatalError("the key of the seeds is refused") }
    var frontier = MerkleFrontier()
    let leaves = try (0..<8).map { number in
      try Self.record(UInt64(number + 1)).leaf(author: .none)
    }
    for leaf in leaves { frontier.append(leaf) }
    let note = try key.sign(size: frontier.count, root: frontier.root)
    try put(note.encoded(), .notes, "checkpoint")
    try put(note.text, .notes, "checkpoint-text")
    // Numbers with several digits: altering one byte gives them a leading zero or a sign.
    let large = try key.sign(size: 1_234_567, root: frontier.root)
    try put(large.text, .notes, "checkpoint-text-large")
    let record = try ProvenRecord(Self.record(63), author: .none, showsPayload: true)
    let proof = InclusionProof(record: record, position: LogPosition(1_000_064), path: [], checkpoint: large)
    try put(proof.encoded(), .notes, "inclusion-proof-large")
    try put(ConsistencyProof(old: 1_000, path: [], checkpoint: large).encoded(), .notes, "consistency-proof-large")
    try put(Array(key.text.utf8), .notes, "signing-key")
    try put(Array((key.verifier.text + "\n").utf8), .notes, "verifier-key")
    // The path of the last leaf, from the bottom: its neighbour, then the two subtrees on the left.
    let left = (0..<4).map { leaves[$0] }
    let path = [
      leaves[6], MerkleTree.node(leaves[4], leaves[5]),
      MerkleTree.node(MerkleTree.node(left[0], left[1]), MerkleTree.node(left[2], left[3])),
    ]
    for number in [UInt64(1), 2, 8] {
      let record = try ProvenRecord(Self.record(number), author: .none, showsPayload: true)
      let proof = InclusionProof(record: record, position: LogPosition(number), path: path, checkpoint: note)
      if number == 8 { _ = try proof.verify(by: key.verifier) }
      try put(proof.encoded(), .notes, "inclusion-proof-\(number)")
      try put(Array(record.json.utf8), .notes, "leaf-\(number)")
    }
    try put(ConsistencyProof(old: 8, path: [], checkpoint: note).encoded(), .notes, "consistency-proof-equal")
    try put(ConsistencyProof(old: 4, path: path, checkpoint: note).encoded(), .notes, "consistency-proof")
  }
}
