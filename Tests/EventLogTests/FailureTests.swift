import ChatPrimitives
import EventLogSimulation
import Foundation
import Synchronization
import Testing

@testable import EventLog

@Suite("Failing disks")
struct FailureTests {
  private func opened() throws -> (SimulatedDisk, EmbeddedLog) {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 5120))
    try log.append(Sample.block(after: .origin, records: 2))
    return (disk, log)
  }

  private func expectPoisoned(_ log: EmbeddedLog, _ disk: SimulatedDisk, code: LogError.Code) throws {
    let error = logError { try log.append(Sample.block(after: log.head, records: 1)) }
    #expect(error?.code == code)
    #expect(error?.location?.offset != nil || code == .io)
    #expect(log.poison == error)
    #expect(log.head == LogPosition(2))
    let writes = disk.writes
    for _ in 0..<2 {
      let later = logError { try log.append(Sample.block(after: log.head, records: 1)) }
      #expect(later?.code == .poisoned)
      #expect(later?.cause == error?.description)
    }
    #expect(logError { try log.noteIdle() }?.code == .poisoned)
    #expect(disk.writes == writes)
    #expect(try log.allRecords().count == 2)
    try log.close()
    #expect(disk.writes == writes)
    let again = try EmbeddedLog.open(
      directory: dataDirectory, disk: SimulatedDisk(disk.files), options: Sample.options())
    #expect(again.head >= LogPosition(2))
    try again.append(Sample.block(after: again.head, records: 1))
  }

  @Test("a failed sync poisons the log")
  func failedSync() throws {
    let (disk, log) = try opened()
    disk.plan(.inputOutput, at: 1, of: .sync)
    try expectPoisoned(log, disk, code: .io)
  }

  @Test(
    "a failed write poisons the log", arguments: [(EIO, LogError.Code.io), (ENOSPC, .fullDisk), (EDQUOT, .fullDisk)])
  func failedWrite(number: Int32, code: LogError.Code) throws {
    let (disk, log) = try opened()
    disk.plan(.fails(number), at: 1, of: .write)
    try expectPoisoned(log, disk, code: code)
  }

  @Test("a short write poisons the log, and the part that was written is cut at the next start")
  func shortWrite() throws {
    let (disk, log) = try opened()
    disk.plan(.shortWrite(70), at: 1, of: .write)
    try expectPoisoned(log, disk, code: .fullDisk)
    let again = try EmbeddedLog.open(
      directory: dataDirectory, disk: SimulatedDisk(disk.files), options: Sample.options())
    #expect(again.recovery.tornTail != nil)
    #expect(again.head == LogPosition(2))
  }

  @Test("no room for the next segment poisons the log and leaves no half-filled file")
  func fullDiskWhileRolling() throws {
    let (disk, log) = try opened()
    disk.plan(.fullDisk, at: 1, of: .write)
    let error = logError {
      try log.append(Sample.block(after: log.head, records: 30, compressible: false))
    }
    #expect(error?.code == .fullDisk)
    #expect(segmentPaths(disk).count == 1)
    #expect(!disk.files.keys.contains { $0.hasSuffix(".tmp") })
    #expect(log.poison == error)
    #expect(try log.allRecords().count == 2)
  }

  @Test(
    "a segment that finds no free descriptor is made when there is one",
    arguments: [EMFILE, ENFILE], [DiskCalls.list, .open, .syncDirectory])
  func noDescriptorWhileRolling(number: Int32, call: DiskCalls) throws {
    let (disk, log) = try opened()
    for attempt in 1...2 { disk.plan(.fails(number), at: attempt, of: call) }
    try log.append(Sample.block(after: log.head, records: 30, compressible: false))
    #expect(log.poison == nil)
    #expect(segmentPaths(disk).count == 2)
    #expect(try log.allRecords().count == 32)
    try log.close()
    let again = try EmbeddedLog.open(
      directory: dataDirectory, disk: SimulatedDisk(disk.files), options: Sample.options(segmentBytes: 5120))
    #expect(again.head == LogPosition(32))
  }

  @Test("a sync that reports no free descriptor is not repeated: it poisons the log")
  func noDescriptorInSync() throws {
    let (disk, log) = try opened()
    disk.plan(.fails(EMFILE), at: 1, of: .sync)
    try expectPoisoned(log, disk, code: .io)
  }

  @Test("a failure at any write or sync while segments fill loses nothing acknowledged", arguments: [true, false])
  func everyFailure(failsSync: Bool) throws {
    for step in 1...60 {
      let (disk, log) = try opened()
      disk.plan(.inputOutput, at: step, of: failsSync ? .sync : .write)
      var submitted = log.head
      for _ in 0..<20 where log.poison == nil {
        let block = try Sample.block(after: log.head, records: 2)
        submitted = LogPosition(block.next.value - 1)
        try? log.append(block)
        if log.head.value % 8 == 0 { try? log.noteIdle() }
      }
      let acknowledged = log.head
      let after = SimulatedDisk(disk.files)
      let again = try EmbeddedLog.open(
        directory: dataDirectory, disk: after, options: Sample.options(segmentBytes: 5120))
      #expect(again.head >= acknowledged && again.head <= submitted)
      let records = try again.allRecords()
      #expect(records.map(\.envelope) == (1...again.head.value).map { Sample.envelope($0) })
      try again.append(Sample.block(after: again.head, records: 1))
      try again.close()
      _ = try LogVerifier(directory: dataDirectory, disk: after).run()
    }
  }

  enum Loss: CaseIterable {
    case deleted, replaced, moved, movedAndCopied
  }

  private func lose(_ segment: String, _ loss: Loss, on disk: SimulatedDisk) throws {
    switch loss {
    case .deleted: try disk.remove(segment)
    case .replaced:
      _ = try disk.open(logDirectory + "/copy", .createNew)
      try disk.rename(logDirectory + "/copy", to: segment)
    case .moved: try disk.rename(segment, to: segment + ".x")
    case .movedAndCopied:
      let bytes = try #require(disk.bytes(segment))
      try disk.rename(segment, to: segment + ".x")
      let copy = try disk.open(segment, .createNew)
      #expect(try bytes.withUnsafeBytes { try copy.write($0, at: 0) } == bytes.count)
    }
  }

  @Test(
    "a segment that is deleted, moved or replaced poisons the log before a block in it is acknowledged",
    arguments: Loss.allCases)
  func lostSegment(loss: Loss) throws {
    let (disk, log) = try opened()
    let segment = try #require(segmentPaths(disk).first)
    try lose(segment, loss, on: disk)
    let error = logError { try log.append(Sample.block(after: log.head, records: 1)) }
    #expect(error?.code == .detached)
    #expect(error?.location == LogError.Location(file: segment, position: LogPosition(3)))
    #expect(log.poison == error)
    #expect(log.head == LogPosition(2))
    #expect(logError { try log.append(Sample.block(after: log.head, records: 1)) }?.code == .poisoned)
    #expect(try log.allRecords().count == 2)
  }

  @Test("a superblock that is deleted poisons the log")
  func lostSuperblock() throws {
    let (disk, log) = try opened()
    try disk.remove(logDirectory + "/superblock")
    #expect(logError { try log.noteIdle() }?.code == .detached)
    #expect(log.poison?.code == .detached)
  }

  @Test("a failed superblock poisons the log")
  func failedSuperblock() throws {
    let (disk, log) = try opened()
    disk.plan(.inputOutput, at: 1, of: .sync)
    #expect(logError { try log.noteIdle() }?.code == .io)
    #expect(log.poison?.code == .io)
    #expect(logError { try log.append(Sample.block(after: log.head, records: 1)) }?.code == .poisoned)
  }
}
