import ChatPrimitives
import EventLogSimulation
import Testing

@testable import EventLog

@Suite("Damage")
struct DamageTests {
  /// A closed log with seven blocks in three segments.
  static let disk: Result<SimulatedDisk, any Error> = Result {
    try Sample.log(blocks: [2, 1, 3, 2, 1, 2, 1], segmentBytes: 5120, payloadBytes: 160)
  }

  private func readAll(_ disk: SimulatedDisk) throws {
    _ = try LogReader.open(directory: dataDirectory, disk: disk).allRecords()
  }

  private func thrown(_ body: () throws -> Void) -> LogError? {
    do {
      try body()
      return nil
    } catch {
      return error as? LogError
    }
  }

  @Test("a flipped bit in any byte is found by verify and refused on read, with its place", arguments: 0..<8)
  func everyByte(part: Int) throws {
    let original = try Self.disk.get()
    let reader = try LogReader.open(directory: dataDirectory, disk: original)
    let head = reader.head
    var blocks: [Block] = []
    while (blocks.last?.last ?? .origin) < head {
      blocks.append(try reader.block(containing: (blocks.last?.last ?? .origin).next))
    }
    let paths = segmentPaths(original)
    #expect(paths.count == 3)
    #expect(blocks.count == 7)
    for path in paths {
      let name = String(path.dropFirst(logDirectory.count + 1))
      let own = blocks.filter { $0.segment == name }
      let end = own.map { Int($0.offset) + $0.storedBytes }.max() ?? 4096
      let isTail = path == paths.last
      for place in stride(from: part, to: isTail ? end : 5120, by: 8) {
        var files = original.files
        files[path]?[place] ^= 1 << (place / 8 % 8)
        let damaged = SimulatedDisk(files)
        let block = own.last { Int($0.offset) <= place }
        let isBehind = place >= end
        let expected = place < 4096 ? 0 : isBehind ? UInt64(end) : block?.offset
        for error in [
          thrown { _ = try LogVerifier(directory: dataDirectory, disk: damaged).run() },
          thrown { try readAll(damaged) },
        ] {
          // The first failure is enough; printing thousands of them would only be slow.
          try #require(error?.code == .corrupt, "byte \(place) of \(name)")
          try #require(error?.location?.file == name, "byte \(place) of \(name)")
          try #require(error?.location?.offset == expected, "byte \(place) of \(name)")
          if place >= 4096, !isBehind {
            try #require(error?.location?.position == block?.first, "byte \(place) of \(name)")
          }
        }
      }
    }
  }

  @Test("the writer refuses a damaged block on first read and still serves the others")
  func writerRefusesOnRead() throws {
    let original = try Self.disk.get()
    let reader = try LogReader.open(directory: dataDirectory, disk: original)
    let block = try reader.block(containing: LogPosition(4))
    var files = original.files
    files["\(logDirectory)/\(block.segment)"]?[Int(block.offset) + 70] ^= 1
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: SimulatedDisk(files), options: Sample.options(segmentBytes: 5120))
    let error = logError { _ = try log.block(containing: LogPosition(4)) }
    #expect(error?.code == .corrupt)
    #expect(error?.location == .init(file: block.segment, offset: block.offset, position: block.first))
    #expect(try log.block(containing: .first).first == .first)
    #expect(try log.block(containing: log.head).last == log.head)
  }

  @Test("swapped and duplicated blocks are found", arguments: [true, false])
  func movedBlocks(swapping: Bool) throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    for _ in 0..<4 {
      try log.append(Sample.block(after: log.head, records: 1, payloadBytes: 15_000, compressible: false))
    }
    try log.close()
    let blocks = try [1, 2, 3, 4].map { try log.block(containing: LogPosition($0)) }
    #expect(Set(blocks.map(\.storedBytes)).count == 1)
    let path = try #require(segmentPaths(disk).first)
    let whole = try #require(disk.files[path])
    func bytes(_ number: Int) -> ArraySlice<UInt8> {
      whole[Int(blocks[number].offset)..<Int(blocks[number].offset) + blocks[number].storedBytes]
    }
    for (one, other) in [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)] {
      var changed = whole
      changed.replaceSubrange(bytes(other).indices, with: bytes(one))
      if swapping { changed.replaceSubrange(bytes(one).indices, with: bytes(other)) }
      var files = disk.files
      files[path] = changed
      let damaged = SimulatedDisk(files)
      #expect(logError { try readAll(damaged) }?.code == .corrupt)
      #expect(logError { _ = try LogVerifier(directory: dataDirectory, disk: damaged).run() }?.code == .corrupt)
      #expect(
        logError { _ = try EmbeddedLog.open(directory: dataDirectory, disk: damaged, options: Sample.options()) }?
          .code == .corrupt)
    }
  }

  @Test("segments of another log, or in each other's place, are refused")
  func foreignSegments() throws {
    let original = try Self.disk.get()
    let paths = segmentPaths(original)
    var files = original.files
    files[paths[0]] = original.files[paths[1]]
    files[paths[1]] = original.files[paths[0]]
    #expect(logError { try readAll(SimulatedDisk(files)) }?.code == .corrupt)
    let other = SimulatedDisk()
    let options = LogOptions(segmentBytes: 5120, preparesAhead: false, now: { Sample.time })
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: other, options: options)
    for records in [2, 1, 3, 2, 1, 2, 1] { try log.append(Sample.block(after: log.head, records: records)) }
    try log.close()
    for path in segmentPaths(other) where original.files[path] != nil {
      files = original.files
      files[path] = other.files[path]
      #expect(logError { try readAll(SimulatedDisk(files)) }?.code == .corrupt)
    }
  }

  @Test("the only segment of another log is refused")
  func foreignOnlySegment() throws {
    let original = try Sample.log(blocks: [2])
    let other = SimulatedDisk()
    let options = LogOptions(segmentBytes: 64 * 1024, preparesAhead: false, now: { Sample.time })
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: other, options: options)
    try log.append(Sample.block(after: log.head, records: 2))
    try log.close()
    let path = try #require(segmentPaths(original).first)
    var files = original.files
    files[path] = other.files[path]
    let error = logError { try readAll(SimulatedDisk(files)) }
    #expect(error?.code == .corrupt)
    #expect(error?.cause?.contains(log.identity.description) == true)
  }

  /// Two logs with the same beginning, as after continuing from a backup. Their blocks have the same offsets, lengths
  /// and salts. They differ only in the record at one position.
  private func forks(differingAt position: UInt64) throws -> (one: SimulatedDisk, other: SimulatedDisk) {
    let options = Sample.options(segmentBytes: 64 * 1024)
    let shared = try Sample.log(blocks: [1])
    func goOn(_ seed: UInt64) throws -> SimulatedDisk {
      let disk = SimulatedDisk(shared.files)
      let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
      for _ in 0..<5 {
        var builder = BlockBuilder(first: log.head.next)
        let number = builder.first.value
        let content = number == position ? number + seed : number
        let payload = Sample.payload(content, count: 20_000, compressible: false)
        try builder.append(Sample.envelope(number), payload: payload)
        try log.append(builder)
      }
      try log.close()
      return disk
    }
    return (try goOn(1000), try goOn(2000))
  }

  @Test(
    "a block of the same place from another history is refused, within a segment and at its end", arguments: [2, 4])
  func otherHistory(position: UInt64) throws {
    let (one, other) = try forks(differingAt: position)
    let block = try LogReader.open(directory: dataDirectory, disk: one).block(containing: LogPosition(position))
    let path = "\(logDirectory)/\(block.segment)"
    let range = Int(block.offset)..<Int(block.offset) + block.storedBytes
    #expect(range.upperBound + block.storedBytes > 64 * 1024 || position == 2)
    #expect(segmentPaths(one) == segmentPaths(other) && segmentPaths(one).count == 2)
    var files = one.files
    let foreign = try #require(other.files[path])[range]
    #expect(files[path]?[range] != foreign)
    files[path]?.replaceSubrange(range, with: foreign)
    let error = logError { try readAll(SimulatedDisk(files)) }
    #expect(error?.code == .corrupt)
    #expect(error?.cause?.contains("does not continue the") == true)
    #expect(logError { _ = try LogVerifier(directory: dataDirectory, disk: SimulatedDisk(files)).run() } == error)
  }

  @Test("a block of another history is refused when only the chain of the last block speaks against it")
  func otherHistoryBeforeTheEnd() throws {
    let one = try Sample.log(blocks: [1])
    let other = one.afterKill()
    func goOn(_ disk: SimulatedDisk, content: UInt64) throws -> Block {
      let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
      var builder = BlockBuilder(first: log.head.next)
      try builder.append(Sample.envelope(2), payload: Sample.payload(content, count: 900, compressible: false))
      try log.append(builder)
      try log.append(Sample.block(after: log.head, records: 1))
      return try log.block(containing: LogPosition(2))
    }
    let block = try goOn(one, content: 1)
    #expect(try goOn(other, content: 2).offset == block.offset)
    let path = "\(logDirectory)/\(block.segment)"
    let start = Int(block.offset)
    let foreign = try #require(other.bytes(path))[start..<start + block.storedBytes]
    let damaged = one.afterKill()
    damaged.damage(path, at: start, with: Array(foreign))
    let place = LogError.Location(
      file: block.segment, offset: block.offset + UInt64(block.storedBytes), position: LogPosition(3))
    for error in [
      logError { _ = try EmbeddedLog.open(directory: dataDirectory, disk: damaged, options: Sample.options()) },
      logError { _ = try LogReader.open(directory: dataDirectory, disk: damaged) },
    ] {
      #expect(error?.code == .corrupt && error?.location == place)
    }
    #expect(
      try EmbeddedLog.open(directory: dataDirectory, disk: one.afterKill(), options: Sample.options()).head
        == LogPosition(3))
  }

  @Test("verify finds a recorded time that goes back, though every checksum holds")
  func timeGoesBack() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    try log.append(Sample.block(after: .origin, records: 2))
    try log.close()
    let block = try log.block(containing: .first)
    #expect(try LogVerifier(directory: dataDirectory, disk: disk).run().records == 2)
    let records = block.records.reversed().enumerated().map { number, record in
      LogRecord(position: LogPosition(UInt64(number + 1)), envelope: record.envelope, payload: record.payload)
    }
    #expect(records[0].envelope.time > records[1].envelope.time)
    let path = try #require(segmentPaths(disk).first)
    var files = disk.files
    let rest = try unorderedBlock(records, in: try #require(files[path]))
    files[path]?.replaceSubrange(4096..., with: rest)
    let error = logError { _ = try LogVerifier(directory: dataDirectory, disk: SimulatedDisk(files)).run() }
    #expect(error?.code == .corrupt)
    #expect(error?.location?.position == LogPosition(2))
  }

  /// The rest of a segment with one stored block whose records no builder would accept.
  private func unorderedBlock(_ records: [LogRecord], in segment: [UInt8]) throws -> [UInt8] {
    var raw: [UInt8] = []
    for record in records {
      var one = BlockBuilder(first: .first)
      try one.append(record.envelope, payload: record.payload)
      raw += one.raw
    }
    let segmentHeader = try SegmentHeader(parsing: segment.span.bytes.extracting(..<4096))
    let header = BlockHeader(
      codec: .stored, salt: segmentHeader.salt, first: .first, knownDurable: .origin, count: records.count,
      rawBytes: raw.count, storedBytes: raw.count, bodyChecksum: CRC32C.of(raw.span.bytes),
      chain: SegmentHeader.checksum(in: segment.span.bytes))
    var rest = [UInt8](repeating: 0, count: segment.count - 4096)
    rest.withUnsafeMutableBytes { _ = header.encode(into: $0) }
    rest.replaceSubrange(64..<64 + raw.count, with: raw)
    return rest
  }

  @Test("zeros over a whole segment, or over its header, are refused")
  func zeroedRanges() throws {
    let original = try Self.disk.get()
    for path in segmentPaths(original) {
      for range in [0..<4096, 4096..<5120, 0..<5120] {
        var files = original.files
        files[path]?.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
        #expect(logError { try readAll(SimulatedDisk(files)) }?.code == .corrupt)
      }
    }
  }
}
