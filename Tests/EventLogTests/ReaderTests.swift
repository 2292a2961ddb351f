import ChatPrimitives
import Dispatch
import EventLogSimulation
import Foundation
import Synchronization
import Testing

@testable import EventLog

@Suite("Readers, statistics and opening")
struct ReaderTests {
  @Test("a reader beside a writer shows what is known to be durable, and grows with refresh")
  func besideWriter() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 5120))
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    #expect(reader.head == .origin && reader.identity == log.identity)
    for step in 1...30 {
      let before = log.head
      try log.append(Sample.block(after: before, records: step % 3 + 1))
      let files = disk.files
      try reader.refresh()
      #expect(reader.head >= before && reader.head <= log.head)
      #expect(try reader.allRecords() == Array(log.allRecords().prefix(Int(reader.head.value))))
      if step % 4 == 0 {
        try log.noteIdle()
        try reader.refresh()
        #expect(reader.head == log.head)
      } else {
        #expect(disk.files == files)
      }
    }
    #expect(segmentPaths(disk).count > 3)
  }

  @Test("a reader leaves a torn tail alone, and goes on after the server has cut it")
  func tornTail() throws {
    let disk = try Sample.log(blocks: [3, 2, 4], closed: false)
    let tail = try #require(segmentPaths(disk).last)
    let whole = try EmbeddedLog.open(
      directory: dataDirectory, disk: SimulatedDisk(disk.files), options: Sample.options())
    let last = try whole.block(containing: whole.head)
    var files = disk.files
    files[tail]?[Int(last.offset) + 80] ^= 1
    let damaged = SimulatedDisk(files)
    let reader = try LogReader.open(directory: dataDirectory, disk: damaged)
    #expect(reader.head == LogPosition(5))
    #expect(damaged.files == files)
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: damaged, options: Sample.options())
    try log.append(Sample.block(after: log.head, records: 7))
    try log.noteIdle()
    try reader.refresh()
    #expect(reader.head == LogPosition(12))
    #expect(try reader.allRecords() == log.allRecords())
  }

  @Test("verify reports bytes behind the head and does not treat them as damage")
  func verifyBehindHead() throws {
    let disk = try Sample.log(blocks: [3, 2, 4], closed: false)
    let report = try LogVerifier(directory: dataDirectory, disk: disk).run()
    #expect(report.head == LogPosition(5))
    #expect(report.bytesBehindHead > 64)
    let closed = try Sample.log(blocks: [3, 2, 4])
    let whole = try LogVerifier(directory: dataDirectory, disk: closed).run()
    #expect(whole.head == LogPosition(9) && whole.blocks == 3 && whole.records == 9 && whole.segments == 1)
    #expect(whole.bytesBehindHead == 0 && whole.bytes == 64 * 1024)
  }

  @Test("verify reports its progress, up to the end")
  func progress() throws {
    let disk = try Sample.log(blocks: [2, 2, 2, 2, 2, 2, 2], segmentBytes: 5120)
    var steps: [(UInt64, UInt64)] = []
    let report = try LogVerifier(directory: dataDirectory, disk: disk).run { steps.append(($0, $1)) }
    #expect(steps.count >= report.blocks)
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.0 <= $1.0 && $0.1 == $1.1 })
    #expect(steps.last?.0 == report.bytes && steps.last?.1 == report.bytes)
  }

  @Test("statistics count what is there")
  func statistics() throws {
    let disk = try Sample.log(blocks: [40, 40, 1], segmentBytes: 8192)
    var steps: [UInt64] = []
    let statistics = try LogStatistics.gather(directory: dataDirectory, disk: disk) { done, total in
      steps.append(done)
      #expect(total == 81)
    }
    let records = try LogReader.open(directory: dataDirectory, disk: disk).allRecords()
    #expect(statistics.records == 81 && statistics.head == LogPosition(81) && statistics.blocks == 3)
    #expect(statistics.segments == segmentPaths(disk).count)
    #expect(statistics.rawBytes == UInt64(records.reduce(0) { $0 + $1.rawBytes }))
    #expect(statistics.storedBytes < statistics.rawBytes)
    #expect(statistics.kinds.values.reduce(0) { $0 + $1.records } == 81)
    #expect(statistics.kinds.values.reduce(0) { $0 + $1.rawBytes } == statistics.rawBytes)
    #expect(statistics.kinds[2]?.records == UInt64(records.count { $0.envelope.kind == 2 }))
    #expect(steps == [40, 80, 81])
  }

  @Test("opening reads the superblock and the tail only, however long the log is")
  func openReadsTailOnly() throws {
    func read(segments: Int) throws -> (blocks: Int, bytes: Int) {
      let disk = SimulatedDisk()
      let options = Sample.options(segmentBytes: 32 * 1024)
      let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
      while segmentPaths(disk).count < segments {
        try log.append(Sample.block(after: log.head, records: 20, payloadBytes: 300, compressible: false))
      }
      try log.close()
      let copy = SimulatedDisk(disk.files)
      let again = try EmbeddedLog.open(directory: dataDirectory, disk: copy, options: options)
      #expect(again.head == log.head)
      // The two key files are not counted. They are read three times: before anything is changed, when a key could be
      // created, and when they are loaded.
      let keys = copy.files.filter { $0.key.contains("checkpoint.") }.reduce(0) { $0 + $1.value.count }
      #expect(keys > 0 && copy.bytesRead - again.bytesRead <= 3 * keys)
      return (again.blocksRead, again.bytesRead)
    }
    let short = try read(segments: 3)
    let long = try read(segments: 40)
    #expect(short.blocks == 1 && long.blocks == 1)
    #expect(abs(short.bytes - long.bytes) < 4096)
    #expect(long.bytes < 32 * 1024 * 4)
  }

  @Test("after a crash, the bodies above the superblock's position are checked and no others")
  func openChecksWhatMayBeTorn() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    for _ in 0..<10 { try log.append(Sample.block(after: log.head, records: 2)) }
    try log.noteIdle()
    for _ in 0..<3 { try log.append(Sample.block(after: log.head, records: 2)) }
    let again = try EmbeddedLog.open(
      directory: dataDirectory, disk: SimulatedDisk(disk.files), options: Sample.options())
    #expect(again.blocksRead == 3)
    #expect(again.recovery.superblockHead == LogPosition(20) && again.head == LogPosition(26))
  }

  @Test("readers on several threads see whole blocks while the writer goes on")
  func concurrentReaders() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 16 * 1024))
    try log.append(Sample.block(after: .origin, records: 3))
    let group = DispatchGroup()
    for seed in 0..<2 {
      DispatchQueue.global().async(group: group) {
        var state = UInt64(seed + 1)
        for _ in 0..<300 {
          state = state &* 6_364_136_223_846_793_005 &+ 1
          let position = LogPosition(state >> 33 % log.head.value + 1)
          #expect(throws: Never.self) {
            let block = try log.block(containing: position)
            let record = block.records[Int(position.value - block.first.value)]
            #expect(record.position == position && record.envelope == Sample.envelope(position.value))
          }
        }
      }
    }
    DispatchQueue.global().async(group: group) {
      #expect(throws: Never.self) {
        let reader = try LogReader.open(directory: dataDirectory, disk: disk)
        for _ in 0..<50 { try reader.refresh() }
      }
    }
    for step in 0..<200 { try log.append(Sample.block(after: log.head, records: step % 5 + 1)) }
    group.wait()
  }
}
