import ChatPrimitives
import EventLogSimulation
import Testing

@testable import EventLog

@Suite("Finding by stream and by time")
struct SealedIndexTests {
  /// A log in which a few streams are rare.
  private static func log(sealed: Bool) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 128 * 1024))
    while log.head.value < 6_000 {
      var builder = BlockBuilder(first: log.head.next)
      for _ in 0..<50 { try builder.append(envelope(builder.next.value), payload: payload(builder.next.value)) }
      try log.append(builder)
    }
    if sealed {
      try log.roll()
      while try log.sealNext() {}
    }
    try log.close()
    return SimulatedDisk(disk.files)
  }

  private static func envelope(_ number: UInt64) -> RecordEnvelope {
    let stream = number % 1_000 == 7 ? 900 + number / 3_000 : number % 50
    return RecordEnvelope(
      kind: 2, payloadVersion: 1, streamKind: 2, stream: uuid(stream), streamVersion: StreamVersion(number),
      time: Timestamp(milliseconds: Sample.time.milliseconds + Int64(number / 20) * 10))
  }

  private static func payload(_ number: UInt64) -> [UInt8] { Sample.payload(number, count: 120, compressible: false) }

  private static func uuid(_ number: UInt64) -> UUIDBytes { UUIDBytes(high: 5, low: number) }

  @Test("a stream's records are found by decoding exactly the blocks that hold them")
  func streams() throws {
    let disk = try Self.log(sealed: true)
    let all = try LogReader.open(directory: dataDirectory, disk: disk)
    let records = try all.allRecords()
    var blocks: [Block] = []
    var next = LogPosition.first
    while next <= all.head {
      let block = try all.block(containing: next)
      blocks.append(block)
      next = block.last.next
    }
    #expect(blocks.count > 12 && segmentPaths(disk).count > 3)
    for stream in [900, 901, 3, 49, 555] as [UInt64] {
      let holding = blocks.filter { $0.records.contains { $0.envelope.stream == Self.uuid(stream) } }
      for first in [1, 2_500, 5_999] as [UInt64] {
        let reader = try LogReader.open(directory: dataDirectory, disk: disk)
        let before = reader.blocksRead
        var found: [LogRecord] = []
        var streamBlocks = StreamBlocks(
          reader, stream: Self.uuid(stream), from: LogPosition(first), through: reader.head)
        while let block = try streamBlocks.next() {
          found += block.records.filter { $0.envelope.stream == Self.uuid(stream) && $0.position.value >= first }
        }
        #expect(found == records.filter { $0.envelope.stream == Self.uuid(stream) && $0.position.value >= first })
        #expect(reader.blocksRead - before == holding.count { $0.last.value >= first })
      }
    }
  }

  @Test("without seals every block is looked at, and the same is found")
  func activeSegments() throws {
    let reader = try LogReader.open(directory: dataDirectory, disk: try Self.log(sealed: false))
    var found: [LogPosition] = []
    var streamBlocks = StreamBlocks(reader, stream: Self.uuid(900), from: .first, through: LogPosition(2_000))
    while let block = try streamBlocks.next() {
      found += block.records.filter { $0.envelope.stream == Self.uuid(900) }.map(\.position)
    }
    #expect(found.map(\.value) == [7, 1_007])
  }

  @Test("a time is found in the index, at the first block that reaches it", arguments: [true, false])
  func times(sealed: Bool) throws {
    let reader = try LogReader.open(directory: dataDirectory, disk: try Self.log(sealed: sealed))
    let records = try reader.allRecords()
    for offset in [-1, 0, 9, 10, 11, 1_500, 2_990, 3_000, 3_001] as [Int64] {
      let time = Timestamp(milliseconds: Sample.time.milliseconds + offset)
      let fresh = try LogReader.open(directory: dataDirectory, disk: try Self.log(sealed: sealed))
      let start = try fresh.start(notBefore: time)
      #expect(records.filter { $0.position < start }.allSatisfy { $0.envelope.time < time })
      if let first = records.first(where: { $0.envelope.time >= time }) {
        #expect(try start == reader.block(containing: first.position).first)
      } else {
        #expect(start == reader.head.next)
      }
      if sealed { #expect(fresh.blocksRead == 0) }
    }
  }
}
