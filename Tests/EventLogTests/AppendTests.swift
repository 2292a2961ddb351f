import ChatPrimitives
import Dispatch
import EventLogSimulation
import Foundation
import Synchronization
import Testing

@testable import EventLog

@Suite("Append and read")
struct AppendTests {
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
}
