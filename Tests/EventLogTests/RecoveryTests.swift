import ChatPrimitives
import EventLogSimulation
import Foundation
import Synchronization
import Testing

@testable import EventLog

@Suite("Recovery")
struct RecoveryTests {
  /// A log as a crash leaves it, with its last segment and last block.
  private func crashed() throws -> (files: [String: [UInt8]], tail: String, last: Block) {
    let disk = try Sample.log(blocks: [3, 2, 4], closed: false)
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: SimulatedDisk(disk.files), options: Sample.options())
    return (disk.files, try #require(segmentPaths(disk).last), try log.block(containing: log.head))
  }

  private func open(_ disk: SimulatedDisk) throws -> EmbeddedLog {
    try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
  }

  @Test("a file cut at any byte of its last block opens with all earlier blocks", arguments: [true, false])
  func cutAtEveryByte(truncating: Bool) throws {
    let (files, tail, last) = try crashed()
    let start = Int(last.offset)
    for length in start..<start + last.storedBytes {
      var changed = files
      if truncating {
        changed[tail]?.removeSubrange(length...)
      } else {
        changed[tail]?.replaceSubrange(length..., with: [UInt8](repeating: 0, count: 64 * 1024 - length))
      }
      // The body's last bytes may be zeros, which the cut leaves unchanged.
      let isIntact = changed[tail]?.prefix(start + last.storedBytes) == files[tail]?.prefix(start + last.storedBytes)
      let disk = SimulatedDisk(changed)
      let log = try open(disk)
      #expect(log.head == (isIntact ? LogPosition(9) : LogPosition(5)))
      #expect(try log.allRecords().count == Int(log.head.value))
      #expect(disk.files[tail]?.count == 64 * 1024)
      try log.append(Sample.block(after: log.head, records: 2))
      try log.close()
      #expect(try LogVerifier(directory: dataDirectory, disk: disk).run().head == log.head)
    }
  }

  @Test("a flipped bit in an unacknowledged last block makes a torn tail, saved aside and reported")
  func tornIsSavedAside() throws {
    let (files, tail, last) = try crashed()
    for place in stride(from: Int(last.offset), to: Int(last.offset) + 64 + 20, by: 1) {
      var changed = files
      changed[tail]?[place] ^= 0x10
      let disk = SimulatedDisk(changed)
      let log = try open(disk)
      #expect(log.head == LogPosition(5))
      let torn = try #require(log.recovery.tornTail)
      #expect(torn.position == LogPosition(6) && torn.offset == last.offset)
      #expect(torn.savedAs == "torn-00000000000000000006-\(Sample.time.milliseconds).bin")
      let saved = try #require(disk.files["\(logDirectory)/\(torn.savedAs)"])
      #expect(saved.count == torn.bytes)
      #expect(saved[...] == changed[tail]?[Int(last.offset)..<Int(last.offset) + torn.bytes])
      #expect(disk.files[tail]?[Int(last.offset)...].allSatisfy { $0 == 0 } == true)
    }
  }

  @Test("a second torn tail does not overwrite the first one's file")
  func tornTwice() throws {
    let (files, tail, last) = try crashed()
    let disk = SimulatedDisk(files)
    for _ in 0..<2 {
      let file = try disk.open(tail, .readWrite)
      _ = try [UInt8](repeating: 7, count: 100).withUnsafeBytes { try file.write($0, at: last.offset) }
      _ = try open(disk)
    }
    #expect(disk.files.keys.filter { $0.contains("torn-") }.count == 2)
  }

  @Test("lost sectors of the last block, in any combination, leave all earlier blocks")
  func lostSectors() throws {
    let disk = try Sample.log(blocks: [3, 2], closed: false)
    let writer = try open(disk)
    try writer.append(Sample.block(after: writer.head, records: 12, payloadBytes: 150, compressible: false))
    let last = try writer.block(containing: writer.head)
    let tail = try #require(segmentPaths(disk).last)
    let files = disk.files
    let firstSector = Int(last.offset) / 512
    let sectors = (Int(last.offset) + last.storedBytes - 1) / 512 - firstSector + 1
    #expect(sectors > 3)
    for mask in 1..<(1 << sectors) {
      var changed = files
      for sector in 0..<sectors where mask & (1 << sector) != 0 {
        let start = max(Int(last.offset), (firstSector + sector) * 512)
        let end = min(Int(last.offset) + last.storedBytes, (firstSector + sector + 1) * 512)
        changed[tail]?.replaceSubrange(start..<end, with: [UInt8](repeating: 0, count: end - start))
      }
      let log = try open(SimulatedDisk(changed))
      #expect(log.head == LogPosition(5))
      #expect(try log.allRecords().count == 5)
    }
  }

  @Test("what the superblock knows to be durable is refused when damaged, never cut")
  func durableIsNeverCut() throws {
    let disk = try Sample.log(blocks: [3, 2, 4])
    let tail = try #require(segmentPaths(disk).last)
    let log = try open(SimulatedDisk(disk.files))
    let last = try log.block(containing: log.head)
    for place in Int(last.offset)..<Int(last.offset) + last.storedBytes {
      var files = disk.files
      files[tail]?[place] ^= 1
      let damaged = SimulatedDisk(files)
      let error = logError { _ = try open(damaged) }
      try #require(error?.code == .corrupt)
      #expect(error?.location?.file == SegmentName.of(.first))
      #expect(error?.location?.offset == last.offset)
      #expect(error?.location?.position == LogPosition(6))
      // Compared outside the macro, which would print both files on a failure.
      let isUnchanged = damaged.files[tail] == files[tail]
      #expect(isUnchanged)
    }
    for length in [Int(last.offset), Int(last.offset) + 10, 4096] {
      var files = disk.files
      files[tail]?.removeSubrange(length...)
      #expect(logError { _ = try open(SimulatedDisk(files)) }?.code == .corrupt)
    }
  }

  @Test("damage with an intact later block is corruption, with or without a superblock that knows")
  func laterBlocksProveDurability() throws {
    let disk = try Sample.log(blocks: [3, 2, 4], closed: false)
    let tail = try #require(segmentPaths(disk).last)
    let log = try open(SimulatedDisk(disk.files))
    let middle = try log.block(containing: LogPosition(4))
    for place in Int(middle.offset)..<Int(middle.offset) + middle.storedBytes {
      var files = disk.files
      files[tail]?[place] ^= 4
      let error = logError { _ = try open(SimulatedDisk(files)) }
      #expect(error?.code == .corrupt)
      #expect(error?.location?.offset == middle.offset)
    }
    var hole = disk.files
    let range = Int(middle.offset)..<Int(middle.offset) + middle.storedBytes
    hole[tail]?.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
    #expect(logError { _ = try open(SimulatedDisk(hole)) }?.code == .corrupt)
    #expect(logError { _ = try LogReader.open(directory: dataDirectory, disk: SimulatedDisk(hole)) }?.code == .corrupt)
  }

  @Test("bytes behind the end that no writer acknowledged are saved aside")
  func strayBytes() throws {
    let disk = try Sample.log(blocks: [3])
    let tail = try #require(segmentPaths(disk).last)
    var files = disk.files
    files[tail]?[60_000] = 1
    let log = try open(SimulatedDisk(files))
    #expect(log.head == LogPosition(3))
    #expect(log.recovery.tornTail?.position == LogPosition(4))
  }

  @Test("a payload that looks like a block is not taken for one")
  func forgedHeader() throws {
    let disk = SimulatedDisk()
    let options = Sample.options(segmentBytes: 256 * 1024)
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
    try log.append(Sample.block(after: .origin, records: 1))
    let forged = BlockHeader(
      codec: .lz4, salt: 0x1234_5678_9abc_def0, first: LogPosition(900), knownDurable: LogPosition(899), count: 1,
      rawBytes: 100, storedBytes: 50, bodyChecksum: 0, chain: 0)
    var payload = [UInt8](repeating: 0, count: 64)
    payload.withUnsafeMutableBytes { _ = forged.encode(into: $0) }
    payload += Sample.payload(5, count: 100_000, compressible: false)
    var builder = BlockBuilder(first: LogPosition(2))
    try builder.append(Sample.envelope(2), payload: payload)
    try log.append(builder)
    let last = try log.block(containing: LogPosition(2))
    let tail = try #require(segmentPaths(disk).last)
    var files = disk.files
    // The payload is stored uncompressed, so the forged header is in the file, at a multiple of eight.
    let start = Int(last.offset) + 64 + LogFormat.recordHeaderBytes + Sample.envelope(2).encodedBytes
    #expect(last.codec == .stored && start % 8 == 0)
    #expect(files[tail]?[start..<start + 64] == payload[..<64])
    files[tail]?[Int(last.offset) + 50_000] ^= 1
    let reopened = try EmbeddedLog.open(directory: dataDirectory, disk: SimulatedDisk(files), options: options)
    #expect(reopened.head == .first)
    #expect(reopened.recovery.tornTail?.position == LogPosition(2))
  }

  @Test("an empty segment just made opens, whether the crash came before or after its naming")
  func emptyNextSegment() throws {
    let disk = SimulatedDisk()
    let options = Sample.options(segmentBytes: 5120)
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
    while segmentPaths(disk).count < 3 {
      try log.append(Sample.block(after: log.head, records: 2))
    }
    let newest = try #require(segmentPaths(disk).last)
    var files = disk.files
    files[newest]?.replaceSubrange(4096..., with: [UInt8](repeating: 0, count: 1024))
    let opened = try EmbeddedLog.open(directory: dataDirectory, disk: SimulatedDisk(files), options: options)
    #expect(opened.head == LogPosition(log.head.value - 2))
    #expect(opened.lastTime == Sample.envelope(opened.head.value).time)
    #expect(try opened.allRecords().count == Int(opened.head.value))
    try opened.append(Sample.block(after: opened.head, records: 2))
    files = disk.files
    files["\(logDirectory)/next.tmp"] = [1, 2, 3]
    let disk2 = SimulatedDisk(files)
    let cleaned = try EmbeddedLog.open(directory: dataDirectory, disk: disk2, options: options)
    #expect(cleaned.head == log.head)
    #expect(disk2.files["\(logDirectory)/next.tmp"] == nil)
  }

  @Test("a log whose superblock, segments or one segment are gone is refused")
  func missingFiles() throws {
    let disk = try Sample.log(blocks: [2, 2, 2, 2, 2, 2, 2, 2], segmentBytes: 5120)
    let segments = segmentPaths(disk)
    #expect(segments.count > 2)
    var files = disk.files
    files["\(logDirectory)/superblock"] = nil
    #expect(logError { _ = try open(SimulatedDisk(files)) }?.code == .corrupt)
    #expect(logError { _ = try LogReader.open(directory: dataDirectory, disk: SimulatedDisk(files)) }?.code == .corrupt)
    files = disk.files.filter { !$0.key.hasSuffix(".seg") }
    #expect(logError { _ = try open(SimulatedDisk(files)) }?.code == .corrupt)
    files = disk.files
    files[segments[segments.count - 1]] = nil
    #expect(logError { _ = try open(SimulatedDisk(files)) }?.code == .corrupt)
    files = disk.files
    files[segments[1]] = nil
    #expect(logError { _ = try open(SimulatedDisk(files)).allRecords() }?.code == .corrupt)
    files = disk.files
    files[segments[0]] = nil
    #expect(logError { _ = try open(SimulatedDisk(files)).allRecords() }?.code == .corrupt)
  }

  @Test("a crash at any write or sync of making a log leaves a directory that opens")
  func crashWhileCreating() throws {
    for step in 1...40 {
      for failsSync in [true, false] {
        let disk = SimulatedDisk()
        disk.plan(.inputOutput, at: step, of: failsSync ? .sync : .write)
        _ = try? open(disk)
        let log = try open(SimulatedDisk(disk.files))
        #expect(log.head == .origin)
        try log.append(Sample.block(after: .origin, records: 1))
        #expect(try log.allRecords().count == 1)
      }
    }
  }

  @Test("names that a killed process left unsynced are durable before a block is acknowledged", arguments: 1...3)
  func unsyncedNames(failure: Int) throws {
    let disk = SimulatedDisk()
    disk.plan(.inputOutput, at: failure, of: .syncDirectory)
    _ = try? open(disk)
    let after = disk.afterKill()
    let log = try open(after)
    try log.append(Sample.block(after: .origin, records: 1))
    for path in after.paths(in: logDirectory) {
      // Compared outside the macro, which would print both files on a failure.
      let isDurable = after.durableBytes(path) == after.bytes(path)
      #expect(isDurable, "\(path)")
    }
  }

  @Test("a block whose sync failed is written again before it counts", arguments: UInt64(1)...8)
  func lostSync(seed: UInt64) throws {
    let disk = SimulatedDisk(seed: seed)
    let log = try open(disk)
    try log.append(Sample.block(after: .origin, records: 2))
    disk.plan(.losesSync(EIO), at: 1, of: .sync)
    #expect(logError { try log.append(Sample.block(after: log.head, records: 2)) }?.code == .io)
    let after = disk.afterKill()
    let again = try open(after)
    #expect(again.head == LogPosition(4))
    #expect(try open(after.afterPowerCut()).allRecords().count == 4)
  }

  @Test("a cut whose sync failed is repeated before anything is written over it", arguments: UInt64(1)...8)
  func lostCut(seed: UInt64) throws {
    let disk = SimulatedDisk(seed: seed)
    let log = try open(disk)
    try log.append(Sample.block(after: .origin, records: 2))
    disk.plan(.shortWrite(3000), at: 1, of: .write)
    _ = try? log.append(Sample.block(after: log.head, records: 40, compressible: false))
    // The torn write is on the disk.
    let second = SimulatedDisk(disk.files, seed: seed)
    let tail = try #require(segmentPaths(second).first)
    // The first sync is that of the file with the torn tail, the second that of the segment.
    second.plan(.losesSync(EIO), at: 2, of: .sync)
    #expect(logError { _ = try open(second) }?.code == .io)
    let third = second.afterKill()
    let again = try open(third)
    #expect(again.head == LogPosition(2))
    let last = try again.block(containing: again.head)
    let behind = try #require(third.durableBytes(tail))[(Int(last.offset) + last.storedBytes)...]
    let isZero = behind.allSatisfy { $0 == 0 }
    #expect(isZero)
  }
}
