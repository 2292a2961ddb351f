import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

@Suite("Sealing")
struct SealingTests {
  private func open(_ disk: SimulatedDisk, segmentBytes: Int = 16 * 1024) throws -> EmbeddedLog {
    try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: segmentBytes))
  }

  @Test("every record keeps its place and its bits, takes less room, and a tree head is stored for each segment")
  func keepsRecords() throws {
    let before = try SealedSample.log(unsealed: .max)
    let expected = try LogReader.open(directory: dataDirectory, disk: before).allRecords()
    let after = SimulatedDisk(before.files)
    let log = try open(after)
    let count = try log.segmentsToSeal()
    #expect(count > 4)
    for left in stride(from: count - 1, through: 0, by: -1) {
      #expect(try log.sealNext())
      #expect(try log.segmentsToSeal() == left)
      #expect(try log.allRecords() == expected)
    }
    #expect(try log.sealNext() == false)
    try log.close()
    let reader = try LogReader.open(directory: dataDirectory, disk: after)
    #expect(try reader.allRecords() == expected)
    #expect(segmentPaths(after) == segmentPaths(before))
    for path in segmentPaths(before).dropLast() {
      #expect(try #require(after.files[path]).count < #require(before.files[path]).count)
    }
    let report = try LogVerifier(directory: dataDirectory, disk: after).run()
    #expect(report.sealedSegments == count && report.treeHeads == count)
    #expect(report.root == (try LogVerifier(directory: dataDirectory, disk: before).run().root))
    let statistics = try LogStatistics.gather(from: reader)
    let sealedBytes = segmentPaths(after).dropLast().reduce(0) { $0 + (after.files[$1]?.count ?? 0) }
    #expect(statistics.sealedSegments == count)
    #expect(statistics.storedBytes >= UInt64(sealedBytes) && statistics.storedBytes < UInt64(sealedBytes + 16 * 1024))
    #expect(statistics.rawBytes == UInt64(expected.reduce(0) { $0 + $1.rawBytes }))
  }

  @Test("what the active segment holds is sealed after a roll, and an empty one is not rolled")
  func roll() throws {
    let disk = try SealedSample.log(records: 30, unsealed: .max)
    let log = try open(disk)
    let expected = try log.allRecords()
    #expect(segmentPaths(disk).count == 1)
    try log.roll()
    try log.roll()
    #expect(segmentPaths(disk).count == 2)
    #expect(try log.sealNext())
    try SealedSample.append(to: log)
    #expect(try log.allRecords().prefix(expected.count) == expected[...])
    try log.close()
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
  }

  @Test("a reader that knew the active segments reads on when they are sealed and when more comes")
  func besideReader() throws {
    let disk = try SealedSample.log(unsealed: .max)
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let expected = try reader.allRecords()
    let log = try open(disk)
    while try log.sealNext() {
      #expect(try reader.allRecords() == expected)
      #expect(try reader.block(containing: LogPosition(5)).records.contains { $0.position == LogPosition(5) })
    }
    try SealedSample.append(to: log)
    try log.noteIdle()
    try reader.refresh()
    #expect(reader.head == log.head)
    #expect(try reader.allRecords() == log.allRecords())
  }

  @Test("a failure leaves the segment as it is and the log in use; later it is sealed", arguments: 1...12)
  func failure(call: Int) throws {
    let disk = try SealedSample.log(records: 200, unsealed: .max)
    let log = try open(disk)
    let expected = try log.allRecords()
    let files = disk.files.filter { $0.key.hasSuffix(".seg") }
    disk.plan(.fullDisk, at: call, of: [.write, .sync, .rename, .remove, .syncDirectory])
    let error = logError { while try log.sealNext() {} }
    #expect(error?.code == .fullDisk)
    disk.forgetPlans()
    #expect(log.poison == nil)
    #expect(disk.files.filter { $0.key.hasSuffix(".seg") }.count == files.count)
    try SealedSample.append(to: log)
    #expect(try log.allRecords().prefix(expected.count) == expected[...])
    // After a swap whose sync failed, sealing continues when the log is opened again.
    while try log.sealNext() {}
    try log.close()
    let again = try open(disk)
    while try again.sealNext() {}
    #expect(try again.segmentsToSeal() == 0)
    try again.close()
    let report = try LogVerifier(directory: dataDirectory, disk: disk).run()
    #expect(report.treeHeads == report.sealedSegments)
    #expect(!disk.files.keys.contains { $0.hasSuffix(".tmp") })
  }

  @Test("a segment that cannot be read is not sealed, and the place is named")
  func damagedSource() throws {
    let disk = try SealedSample.log(unsealed: .max)
    let path = segmentPaths(disk)[0]
    disk.damage(path, at: 5_000, with: [UInt8](repeating: 0xee, count: 600))
    let log = try open(disk)
    let files = disk.files
    let error = logError { _ = try log.sealNext() }
    #expect(error?.code == .corrupt && error?.location?.file == URL(filePath: path).lastPathComponent)
    #expect(disk.files == files && log.poison == nil)
  }

  @Test("a tree head that a crash left out is stored with the next sealing, and any other that is missing is damage")
  func missingHead() throws {
    let disk = try SealedSample.log(unsealed: 1)
    var heads = disk.paths(in: logDirectory).filter { $0.hasSuffix(".checkpoint") }
    var files = disk.files
    files[heads.removeLast()] = nil
    let crashed = SimulatedDisk(files)
    #expect(try LogVerifier(directory: dataDirectory, disk: crashed).run().treeHeads == heads.count)
    let log = try open(crashed)
    #expect(try log.sealNext())
    try log.close()
    #expect(try LogVerifier(directory: dataDirectory, disk: crashed).run().treeHeads == heads.count + 2)
    files[heads[1]] = nil
    let error = logError { _ = try LogVerifier(directory: dataDirectory, disk: SimulatedDisk(files)).run() }
    #expect(error?.code == .corrupt && error?.location?.file == URL(filePath: heads[1]).lastPathComponent)
  }

  @Test("a log whose last segment is sealed lacks its tail, and is refused")
  func missingTail() throws {
    var files = try SealedSample.log().files
    files[try #require(segmentPaths(SimulatedDisk(files)).last)] = nil
    files["\(logDirectory)/superblock"] = Superblock.newFile(
      identity: try LogReader.open(directory: dataDirectory, disk: SealedSample.log()).identity)
    #expect(logError { _ = try open(SimulatedDisk(files)) }?.code == .corrupt)
    #expect(logError { _ = try LogReader.open(directory: dataDirectory, disk: SimulatedDisk(files)) }?.code == .corrupt)
  }

  @Test("a reader that was not refreshed reads on when its tail was rolled and sealed")
  func unrefreshedReader() throws {
    let disk = try SealedSample.log(records: 100, segmentBytes: 64 * 1024, unsealed: .max)
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let expected = try reader.allRecords()
    let late = try LogReader.open(directory: dataDirectory, disk: disk)
    let log = try open(disk, segmentBytes: 64 * 1024)
    try log.roll()
    #expect(try log.sealNext())
    try SealedSample.append(to: log)
    try log.noteIdle()
    #expect(try reader.allRecords() == expected && late.allRecords() == expected)
    #expect(try LogTree(late).frontier.count == UInt64(expected.count))
    try late.refresh()
    #expect(try late.allRecords() == log.allRecords())
  }

  @Test("verify passes while a server seals, however far it has come")
  func verifyBesideSealing() throws {
    for steps in 0...4 {
      let disk = try SealedSample.log(unsealed: .max)
      let log = try open(disk)
      var left = steps
      let report = try LogVerifier(directory: dataDirectory, disk: disk).run { done, _ in
        guard done > 0, left > 0 else { return }
        left -= 1
        #expect(throws: Never.self) { _ = try log.sealNext() }
      }
      #expect(left == 0 && report.records == log.head.value)
    }
  }

  @Test("without its key a log is read and written, nothing is sealed, and no other key is made")
  func lostKey() throws {
    let files = try SealedSample.log(unsealed: 2).files
    for lost in [["checkpoint.key"], ["checkpoint.key", "checkpoint.pub"]] {
      let disk = SimulatedDisk(files.filter { file in !lost.contains { file.key.hasSuffix($0) } })
      let log = try open(disk)
      try SealedSample.append(to: log)
      #expect(logError { _ = try log.sealNext() }?.code == .missing)
      #expect(log.poison == nil)
      try log.close()
      #expect(!disk.files.keys.contains { $0.hasSuffix("checkpoint.key") })
    }
  }

  @Test("a refused log stays as it is, also where it has no key")
  func refusedWithoutKey() throws {
    var files = try SealedSample.log(records: 40, unsealed: .max).files.filter { !$0.key.contains("/checkpoint.") }
    files[try #require(files.keys.first { $0.hasSuffix(".seg") })]?[20] ^= 1
    let disk = SimulatedDisk(files)
    #expect(logError { _ = try open(disk) }?.code == .corrupt)
    #expect(disk.files.filter { !$0.key.hasSuffix("/lock") } == files.filter { !$0.key.hasSuffix("/lock") })
  }

  @Test("in the background, segments are sealed while others fill, and a close ends it")
  func background() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "seal-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let failures = Numbers([])
    var options = LogOptions(segmentBytes: 64 * 1024)
    options.onSealingFailure = { _ in _ = failures.next() }
    let log = try EmbeddedLog.open(directory: directory, options: options)
    for _ in 0..<400 { try SealedSample.append(to: log) }
    let deadline = ContinuousClock.now + .seconds(60)
    while try log.segmentsToSeal() > 0, ContinuousClock.now < deadline { usleep(1_000) }
    #expect(try log.segmentsToSeal() == 0)
    let expected = (1...log.head.value).map(SealedSample.record)
    #expect(try log.allRecords() == expected)
    try log.close()
    let report = try LogVerifier(directory: directory).run()
    #expect(report.sealedSegments > 1 && report.sealedSegments == report.segments - 1)
  }
}
