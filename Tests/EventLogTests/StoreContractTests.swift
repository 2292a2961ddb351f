import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

/// The guarantees of every `BlockStore` on every disk: each test runs on the real file system and on the simulated
/// disk. Another engine is added as another case of `DiskKind`.
@Suite("The contract of a block store")
struct StoreContractTests {
  /// The kind of disk on which a store is.
  enum DiskKind: CaseIterable {
    case fileSystem
    case simulation
  }

  /// A directory on one of the disks, which exists for as long as the test runs.
  private final class TestDirectory {
    let path: String
    let disk: any Disk
    private let isReal: Bool

    init(_ kind: DiskKind) {
      switch kind {
      case .fileSystem:
        path = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID())").path
        disk = PosixDisk()
        isReal = true
      case .simulation:
        path = dataDirectory
        disk = SimulatedDisk()
        isReal = false
      }
    }

    deinit {
      if isReal { try? FileManager.default.removeItem(atPath: path) }
    }

    func open(segmentBytes: Int = 64 * 1024) throws -> EmbeddedLog {
      try EmbeddedLog.open(directory: path, disk: disk, options: Sample.options(segmentBytes: segmentBytes))
    }

    func reader() throws -> LogReader { try LogReader.open(directory: path, disk: disk) }

    func verify() throws -> LogVerifier.Report { try LogVerifier(directory: path, disk: disk).run() }

    var segments: Int {
      get throws { try disk.list(path + "/log")?.count { $0.hasSuffix(".seg") } ?? 0 }
    }
  }

  @Test("what was appended is read, over segments and after opening again", arguments: DiskKind.allCases)
  func roundTrip(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    var expected: [LogRecord] = []
    let log = try directory.open(segmentBytes: 16 * 1024)
    #expect(log.head == .origin && log.recovery.created && log.lastTime == .earliest)
    for records in 1...60 {
      let builder = try Sample.block(after: log.head, records: records % 9 + 1, compressible: records % 2 == 0)
      try log.append(builder)
      expected += try LogRecord.parseAll(builder.raw.span.bytes, first: builder.first, count: builder.count)
      #expect(log.head.next == builder.next)
    }
    #expect(try directory.segments > 2)
    #expect(try log.allRecords() == expected)
    #expect(log.lastTime == expected.last?.envelope.time)
    let identity = log.identity
    try log.close()
    let again = try directory.open()
    #expect(again.identity == identity && !again.recovery.created && again.recovery.tornTail == nil)
    #expect(again.recovery.superblockHead == log.head)
    #expect(try again.allRecords() == expected)
    #expect(again.lastTime == log.lastTime)
    for position in [LogPosition.first, LogPosition(17), again.head] {
      let block = try again.block(containing: position)
      #expect(block.first <= position && position <= block.last)
    }
    #expect(try directory.verify().records == UInt64(expected.count))
  }

  @Test("a position outside of the log is refused", arguments: DiskKind.allCases)
  func outOfRange(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    let log = try directory.open()
    #expect(logError { _ = try log.block(containing: .first) }?.code == .outOfRange)
    try log.append(Sample.block(after: .origin, records: 3))
    #expect(try log.block(containing: LogPosition(3)).last == LogPosition(3))
    for position in [LogPosition.origin, LogPosition(4), LogPosition(.max)] {
      #expect(logError { _ = try log.block(containing: position) }?.code == .outOfRange)
    }
  }

  @Test(
    "a block that does not follow the head, is empty or goes back in time is refused and changes nothing",
    arguments: DiskKind.allCases)
  func wrongBlocks(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    let log = try directory.open()
    try log.append(Sample.block(after: .origin, records: 3))
    let before = try directory.verify()
    #expect(logError { try log.append(Sample.block(after: .origin, records: 1)) }?.code == .outOfOrder)
    #expect(logError { try log.append(Sample.block(after: LogPosition(4), records: 1)) }?.code == .outOfOrder)
    #expect(logError { try log.append(BlockBuilder(first: LogPosition(4))) }?.code == .invalidRecord)
    var early = BlockBuilder(first: LogPosition(4))
    try early.append(Sample.envelope(1), payload: [])
    #expect(logError { try log.append(early) }?.code == .invalidRecord)
    #expect(try directory.verify() == before)
    #expect(log.poison == nil)
    try log.append(Sample.block(after: log.head, records: 1))
    #expect(log.head == LogPosition(4))
  }

  @Test(
    "a block longer than a segment gets a segment of its own length, also in place of an empty one",
    arguments: DiskKind.allCases)
  func longBlocks(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    let log = try directory.open(segmentBytes: LogFormat.minimumSegmentBytes)
    for records in [60, 1, 60, 60, 1, 1] {
      try log.append(Sample.block(after: log.head, records: records, payloadBytes: 200, compressible: false))
    }
    #expect(try log.allRecords().count == 183)
    try log.close()
    #expect(try directory.verify().records == 183)
    #expect(try directory.open(segmentBytes: LogFormat.minimumSegmentBytes).allRecords().count == 183)
  }

  @Test("the longest block is written and read, a longer one cannot be made", arguments: DiskKind.allCases)
  func longestBlock(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    let log = try directory.open(segmentBytes: 1024 * 1024)
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

  @Test("a closed log takes nothing more, is read, and closing twice does nothing", arguments: DiskKind.allCases)
  func closed(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    let log = try directory.open()
    try log.append(Sample.block(after: .origin, records: 1))
    try log.close()
    try log.close()
    #expect(logError { try log.append(Sample.block(after: log.head, records: 1)) }?.code == .closed)
    #expect(logError { try log.noteIdle() }?.code == .closed)
    #expect(try log.block(containing: .first).records.count == 1)
  }

  @Test("a second holder is refused until the first is closed, a reader is not", arguments: DiskKind.allCases)
  func lock(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    let log = try directory.open()
    try log.append(Sample.block(after: .origin, records: 2))
    let error = logError { _ = try directory.open() }
    #expect(error?.code == .locked)
    #expect(error?.location?.file == directory.path + "/lock")
    #expect(try directory.reader().identity == log.identity)
    try log.close()
    #expect(try directory.open().head == LogPosition(2))
  }

  @Test("a reader shows all but the last block, and that too once the writer is idle", arguments: DiskKind.allCases)
  func readerBeside(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    let log = try directory.open(segmentBytes: 8 * 1024)
    let reader = try directory.reader()
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
    #expect(try directory.segments > 2)
    #expect(try reader.allRecords() == log.allRecords())
  }

  @Test("a directory without a log is recognized", arguments: DiskKind.allCases)
  func missing(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    #expect(logError { _ = try directory.reader() }?.code == .missing)
    #expect(logError { _ = try directory.verify() }?.code == .missing)
    try directory.open().close()
    #expect(try directory.reader().head == .origin)
    #expect(try directory.verify().records == 0)
  }

  @Test(
    "options out of bounds are refused before anything is made",
    arguments: DiskKind.allCases,
    [
      (LogFormat.minimumSegmentBytes - 1, false), (LogFormat.minimumSegmentBytes, true),
      (LogFormat.minimumSegmentBytes + 1, true), (LogFormat.maximumSegmentBytes + 1, false),
    ])
  func segmentLimits(kind: DiskKind, option: (segmentBytes: Int, isAccepted: Bool)) throws {
    let directory = TestDirectory(kind)
    if option.isAccepted {
      try directory.open(segmentBytes: option.segmentBytes).close()
    } else {
      #expect(logError { _ = try directory.open(segmentBytes: option.segmentBytes) }?.code == .tooLarge)
      #expect(try directory.disk.list(directory.path) == nil)
    }
  }

  @Test("a log that another process did not close goes on where it was", arguments: DiskKind.allCases)
  func notClosed(kind: DiskKind) throws {
    let directory = TestDirectory(kind)
    var head = LogPosition.origin
    for _ in 0..<3 {
      let log = try directory.open()
      #expect(log.head == head && log.recovery.tornTail == nil)
      try log.append(Sample.block(after: head, records: 5))
      head = log.head
      // Released without `close`: the lock goes with the last reference, as it does when the process ends.
    }
    #expect(try directory.open().allRecords().count == 15)
  }
}
