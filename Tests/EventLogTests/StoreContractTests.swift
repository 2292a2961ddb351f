import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

/// The guarantees of every `BlockStore` on every disk: each test runs on the real file system and on the simulated
/// disk. Another engine is added as another case of `DiskKind`.
@Suite("The contract of a block store")
struct StoreContractTests {
  /// Where a store stands.
  enum Place: CaseIterable {
    case fileSystem
    case simulation
  }

  /// A directory on one of the disks, for as long as the test runs.
  private final class Ground {
    let directory: String
    let disk: any Disk
    private let isReal: Bool

    init(_ place: Place) {
      switch place {
      case .fileSystem:
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID())").path
        disk = PosixDisk()
        isReal = true
      case .simulation:
        directory = dataDirectory
        disk = SimulatedDisk()
        isReal = false
      }
    }

    deinit {
      if isReal { try? FileManager.default.removeItem(atPath: directory) }
    }

    func open(segmentBytes: Int = 64 * 1024) throws -> EmbeddedLog {
      try EmbeddedLog.open(directory: directory, disk: disk, options: Sample.options(segmentBytes: segmentBytes))
    }

    func reader() throws -> LogReader { try LogReader.open(directory: directory, disk: disk) }

    func verify() throws -> LogVerifier.Report { try LogVerifier(directory: directory, disk: disk).run() }

    var segments: Int {
      get throws { try disk.list(directory + "/log")?.count { $0.hasSuffix(".seg") } ?? 0 }
    }
  }

  @Test("what was appended is read, over segments and after opening again", arguments: Place.allCases)
  func roundTrip(place: Place) throws {
    let ground = Ground(place)
    var expected: [LogRecord] = []
    let log = try ground.open(segmentBytes: 16 * 1024)
    #expect(log.head == .origin && log.recovery.created && log.lastTime == .earliest)
    for records in 1...60 {
      let builder = try Sample.block(after: log.head, records: records % 9 + 1, compressible: records % 2 == 0)
      try log.append(builder)
      expected += try LogRecord.parseAll(builder.raw.span.bytes, first: builder.first, count: builder.count)
      #expect(log.head.next == builder.next)
    }
    #expect(try ground.segments > 2)
    #expect(try log.allRecords() == expected)
    #expect(log.lastTime == expected.last?.envelope.time)
    let identity = log.identity
    try log.close()
    let again = try ground.open()
    #expect(again.identity == identity && !again.recovery.created && again.recovery.tornTail == nil)
    #expect(again.recovery.superblockHead == log.head)
    #expect(try again.allRecords() == expected)
    #expect(again.lastTime == log.lastTime)
    for position in [LogPosition.first, LogPosition(17), again.head] {
      let block = try again.block(containing: position)
      #expect(block.first <= position && position <= block.last)
    }
    #expect(try ground.verify().records == UInt64(expected.count))
  }

  @Test("a position outside of the log is refused", arguments: Place.allCases)
  func outOfRange(place: Place) throws {
    let ground = Ground(place)
    let log = try ground.open()
    #expect(logError { _ = try log.block(containing: .first) }?.code == .outOfRange)
    try log.append(Sample.block(after: .origin, records: 3))
    #expect(try log.block(containing: LogPosition(3)).last == LogPosition(3))
    for position in [LogPosition.origin, LogPosition(4), LogPosition(.max)] {
      #expect(logError { _ = try log.block(containing: position) }?.code == .outOfRange)
    }
  }

  @Test(
    "a block that does not follow the head, is empty or goes back in time is refused and changes nothing",
    arguments: Place.allCases)
  func wrongBlocks(place: Place) throws {
    let ground = Ground(place)
    let log = try ground.open()
    try log.append(Sample.block(after: .origin, records: 3))
    let before = try ground.verify()
    #expect(logError { try log.append(Sample.block(after: .origin, records: 1)) }?.code == .outOfOrder)
    #expect(logError { try log.append(Sample.block(after: LogPosition(4), records: 1)) }?.code == .outOfOrder)
    #expect(logError { try log.append(BlockBuilder(first: LogPosition(4))) }?.code == .invalidRecord)
    var early = BlockBuilder(first: LogPosition(4))
    try early.append(Sample.envelope(1), payload: [])
    #expect(logError { try log.append(early) }?.code == .invalidRecord)
    #expect(try ground.verify() == before)
    #expect(log.poison == nil)
    try log.append(Sample.block(after: log.head, records: 1))
    #expect(log.head == LogPosition(4))
  }

  @Test(
    "a block longer than a segment gets a segment of its own length, also in place of an empty one",
    arguments: Place.allCases)
  func longBlocks(place: Place) throws {
    let ground = Ground(place)
    let log = try ground.open(segmentBytes: LogFormat.minimumSegmentBytes)
    for records in [60, 1, 60, 60, 1, 1] {
      try log.append(Sample.block(after: log.head, records: records, payloadBytes: 200, compressible: false))
    }
    #expect(try log.allRecords().count == 183)
    try log.close()
    #expect(try ground.verify().records == 183)
    #expect(try ground.open(segmentBytes: LogFormat.minimumSegmentBytes).allRecords().count == 183)
  }

  @Test("the longest block is written and read, a longer one cannot be made", arguments: Place.allCases)
  func longestBlock(place: Place) throws {
    let ground = Ground(place)
    let log = try ground.open(segmentBytes: 1024 * 1024)
    var builder = BlockBuilder(first: .first)
    let envelope = Sample.envelope(1)
    let overhead = LogFormat.recordHeaderBytes + envelope.encodedBytes
    let noise = Sample.payload(1, count: LogFormat.maximumPayloadBytes, compressible: false)
    for _ in 0..<3 { try builder.append(envelope, payload: noise) }
    let rest = Array(noise[..<(BlockBuilder.maximumRawBytes - builder.rawBytes - overhead)])
    #expect(logError { try builder.append(envelope, payload: rest + [0]) }?.code == .tooLarge)
    #expect(logError { try builder.append(envelope, payload: noise + [0]) }?.code == .tooLarge)
    try builder.append(envelope, payload: rest)
    #expect(builder.rawBytes == BlockBuilder.maximumRawBytes)
    try log.append(builder)
    #expect(try log.block(containing: LogPosition(4)).rawBytes == BlockBuilder.maximumRawBytes)
  }

  @Test("a closed log takes nothing more, is read, and closing twice does nothing", arguments: Place.allCases)
  func closed(place: Place) throws {
    let ground = Ground(place)
    let log = try ground.open()
    try log.append(Sample.block(after: .origin, records: 1))
    try log.close()
    try log.close()
    #expect(logError { try log.append(Sample.block(after: log.head, records: 1)) }?.code == .closed)
    #expect(logError { try log.noteIdle() }?.code == .closed)
    #expect(try log.block(containing: .first).records.count == 1)
  }

  @Test("a second holder is refused until the first is closed, a reader is not", arguments: Place.allCases)
  func lock(place: Place) throws {
    let ground = Ground(place)
    let log = try ground.open()
    try log.append(Sample.block(after: .origin, records: 2))
    let error = logError { _ = try ground.open() }
    #expect(error?.code == .locked)
    #expect(error?.location?.file == ground.directory + "/lock")
    #expect(try ground.reader().identity == log.identity)
    try log.close()
    #expect(try ground.open().head == LogPosition(2))
  }

  @Test("a reader shows all but the last block, and that too once the writer is idle", arguments: Place.allCases)
  func readerBeside(place: Place) throws {
    let ground = Ground(place)
    let log = try ground.open(segmentBytes: 8 * 1024)
    let reader = try ground.reader()
    #expect(reader.head == .origin)
    for step in 1...40 {
      let before = log.head
      try log.append(Sample.block(after: before, records: step % 3 + 1, compressible: false))
      try reader.refresh()
      #expect(reader.head >= before && reader.head <= log.head)
      if step % 4 == 0 {
        try log.noteIdle()
        try reader.refresh()
        #expect(reader.head == log.head)
      }
    }
    #expect(try ground.segments > 2)
    #expect(try reader.allRecords() == log.allRecords())
  }

  @Test("a directory without a log is told from a log", arguments: Place.allCases)
  func missing(place: Place) throws {
    let ground = Ground(place)
    #expect(logError { _ = try ground.reader() }?.code == .missing)
    #expect(logError { _ = try ground.verify() }?.code == .missing)
    try ground.open().close()
    #expect(try ground.reader().head == .origin)
    #expect(try ground.verify().records == 0)
  }

  @Test(
    "options out of bounds are refused before anything is made",
    arguments: Place.allCases,
    [
      (LogFormat.minimumSegmentBytes - 1, false), (LogFormat.minimumSegmentBytes, true),
      (LogFormat.minimumSegmentBytes + 1, true), (LogFormat.maximumSegmentBytes + 1, false),
    ])
  func segmentLimits(place: Place, option: (segmentBytes: Int, isAccepted: Bool)) throws {
    let ground = Ground(place)
    if option.isAccepted {
      try ground.open(segmentBytes: option.segmentBytes).close()
    } else {
      #expect(logError { _ = try ground.open(segmentBytes: option.segmentBytes) }?.code == .tooLarge)
      #expect(try ground.disk.list(ground.directory) == nil)
    }
  }

  @Test("a log that another process did not close goes on where it was", arguments: Place.allCases)
  func notClosed(place: Place) throws {
    let ground = Ground(place)
    var head = LogPosition.origin
    for _ in 0..<3 {
      let log = try ground.open()
      #expect(log.head == head && log.recovery.tornTail == nil)
      try log.append(Sample.block(after: head, records: 5))
      head = log.head
      // Released without `close`: the lock goes with the last reference, as it does when the process ends.
    }
    #expect(try ground.open().allRecords().count == 15)
  }
}
