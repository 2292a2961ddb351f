import ChatPrimitives
import Dispatch
import EventLogSimulation
import Foundation
import Synchronization
import Testing

@testable import EventLog

@Suite("Append and read")
struct AppendTests {
  @Test("what was appended is read, over segments and after opening again")
  func roundTrip() throws {
    let disk = SimulatedDisk()
    var expected: [LogRecord] = []
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 16 * 1024))
    #expect(log.head == .origin && log.recovery.created)
    for records in 1...60 {
      let builder = try Sample.block(after: log.head, records: records % 9 + 1, compressible: records % 2 == 0)
      try log.append(builder)
      expected += try LogRecord.parseAll(builder.raw.span.bytes, first: builder.first, count: builder.count)
      #expect(log.head.next == builder.next)
    }
    #expect(segmentPaths(disk).count > 2)
    #expect(try log.allRecords() == expected)
    #expect(log.lastTime == expected.last?.envelope.time)
    let identity = log.identity
    try log.close()
    let again = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    #expect(again.identity == identity && !again.recovery.created && again.recovery.tornTail == nil)
    #expect(try again.allRecords() == expected)
    #expect(again.lastTime == log.lastTime)
    for position in [LogPosition.first, LogPosition(17), again.head] {
      let block = try again.block(containing: position)
      #expect(block.first <= position && position <= block.last)
    }
  }

  @Test("a position outside of the log is refused")
  func outOfRange() throws {
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: SimulatedDisk(), options: Sample.options())
    #expect(logError { _ = try log.block(containing: .first) }?.code == .outOfRange)
    try log.append(Sample.block(after: .origin, records: 3))
    #expect(try log.block(containing: LogPosition(3)).last == LogPosition(3))
    for position in [LogPosition.origin, LogPosition(4), LogPosition(.max)] {
      #expect(logError { _ = try log.block(containing: position) }?.code == .outOfRange)
    }
  }

  @Test("a block that does not follow the head, is empty or goes back in time is refused and changes nothing")
  func wrongBlocks() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    try log.append(Sample.block(after: .origin, records: 3))
    let before = disk.files
    #expect(logError { try log.append(Sample.block(after: .origin, records: 1)) }?.code == .outOfOrder)
    #expect(logError { try log.append(Sample.block(after: LogPosition(4), records: 1)) }?.code == .outOfOrder)
    #expect(logError { try log.append(BlockBuilder(first: LogPosition(4))) }?.code == .invalidRecord)
    var early = BlockBuilder(first: LogPosition(4))
    try early.append(Sample.envelope(1), payload: [])
    #expect(logError { try log.append(early) }?.code == .invalidRecord)
    #expect(disk.files == before)
    try log.append(Sample.block(after: log.head, records: 1))
    #expect(log.head == LogPosition(4))
  }

  @Test("the head does not move, and nothing is read, before the sync returns")
  func headWaitsForSync() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    try log.append(Sample.block(after: .origin, records: 2))
    let gate = SyncGate()
    disk.gate.withLock { $0 = gate }
    let done = DispatchSemaphore(value: 0)
    let builder = try Sample.block(after: log.head, records: 3)
    Thread.detachNewThread {
      #expect(throws: Never.self) { try log.append(builder) }
      done.signal()
    }
    #expect(gate.waitUntilEntered())
    #expect(log.head == LogPosition(2))
    #expect(logError { _ = try log.block(containing: LogPosition(3)) }?.code == .outOfRange)
    #expect(try log.block(containing: LogPosition(2)).records.count == 2)
    #expect(logError { try log.noteIdle() }?.code == .busy)
    let reader = try LogReader.open(directory: dataDirectory, disk: SimulatedDisk(disk.files))
    #expect(reader.head == LogPosition(2))
    disk.gate.withLock { $0 = nil }
    gate.release()
    done.wait()
    #expect(log.head == LogPosition(5))
    #expect(try log.allRecords().count == 5)
  }

  @Test("a block longer than a segment gets a segment of its own length, also in place of an empty one")
  func longBlocks() throws {
    let disk = SimulatedDisk()
    let options = Sample.options(segmentBytes: LogFormat.minimumSegmentBytes)
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
    for records in [60, 1, 60, 60, 1, 1] {
      try log.append(Sample.block(after: log.head, records: records, payloadBytes: 200, compressible: false))
    }
    #expect(try log.allRecords().count == 183)
    try log.close()
    let report = try LogVerifier(directory: dataDirectory, disk: disk).run()
    #expect(report.records == 183)
    let again = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
    #expect(try again.allRecords().count == 183)
  }

  @Test("the longest block is written and read")
  func longestBlock() throws {
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: SimulatedDisk(), options: Sample.options(segmentBytes: 1024 * 1024))
    var builder = BlockBuilder(first: .first)
    let envelope = Sample.envelope(1)
    let overhead = LogFormat.recordHeaderBytes + envelope.encodedBytes
    let noise = Sample.payload(1, count: LogFormat.maximumPayloadBytes, compressible: false)
    for _ in 0..<3 { try builder.append(envelope, payload: noise) }
    try builder.append(
      envelope, payload: Array(noise[..<(BlockBuilder.maximumRawBytes - builder.rawBytes - overhead)]))
    #expect(builder.rawBytes == BlockBuilder.maximumRawBytes)
    try log.append(builder)
    #expect(try log.block(containing: LogPosition(4)).rawBytes == BlockBuilder.maximumRawBytes)
  }

  @Test("a closed log takes nothing more, and closing twice does nothing")
  func closed() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    try log.append(Sample.block(after: .origin, records: 1))
    try log.close()
    try log.close()
    #expect(logError { try log.append(Sample.block(after: log.head, records: 1)) }?.code == .closed)
    #expect(logError { try log.noteIdle() }?.code == .closed)
    #expect(try log.block(containing: .first).records.count == 1)
  }

  @Test("noting idle writes the durable position once")
  func idle() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    try log.append(Sample.block(after: .origin, records: 1))
    let before = disk.writes
    try log.noteIdle()
    #expect(disk.writes == before + 1)
    try log.noteIdle()
    #expect(disk.writes == before + 1)
    let superblock = try LogFolder(data: dataDirectory, disk: disk).readSuperblock(counts: ReadCounts())
    #expect(superblock?.durable == .first)
  }

  @Test(
    "options out of bounds are refused",
    arguments: [
      (LogFormat.minimumSegmentBytes - 1, false), (LogFormat.minimumSegmentBytes, true),
      (LogFormat.minimumSegmentBytes + 1, true), (LogFormat.maximumSegmentBytes + 1, false),
    ])
  func segmentLimits(segmentBytes: Int, isAccepted: Bool) throws {
    let options = Sample.options(segmentBytes: segmentBytes)
    let disk = SimulatedDisk()
    if isAccepted {
      _ = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
    } else {
      let error = logError { _ = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options) }
      #expect(error?.code == .tooLarge)
      #expect(disk.files.isEmpty)
    }
  }
}
