import ChatPrimitives
import EventLogSimulation
import Testing

@testable import EventLog

@Suite("Copies of a log")
struct LogCopyTests {
  private func records(_ directory: String, _ disk: SimulatedDisk) throws -> [LogRecord] {
    let reader = try LogReader.open(directory: directory, disk: disk)
    return try reader.allRecords()
  }

  private func copy(
    _ disk: SimulatedDisk, to target: String, linkingTo previous: String? = nil
  ) throws -> LogCopy.Report {
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    return try LogCopy(of: reader, to: target, linkingTo: previous, disk: disk).run()
  }

  @Test("a copy has every durable record, shares sealed segments with the one before, and can be continued")
  func growing() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 16 * 1024))
    let key = try SealedSample.key(disk).verifier
    var previous: String?
    for number in 1...6 {
      for _ in 0..<20 { try SealedSample.append(to: log) }
      while try log.segmentsToSeal() > 1, try log.sealNext() {}
      if number == 6 { try log.noteIdle() }
      let target = "/copy\(number)"
      let report = try copy(disk, to: target, linkingTo: previous)
      #expect(report.head <= log.head && (report.head == log.head || number < 6))
      let verified = try LogVerifier(directory: target, disk: disk, key: key).run()
      #expect(verified.head == report.head && verified.segments == report.segments)
      let all = try log.allRecords()
      #expect(try records(target, disk) == Array(all.prefix(Int(report.head.value))))
      if let previous {
        let earlier = try LogReader.open(directory: previous, disk: disk)
        #expect(report.linkedSegments == (try earlier.segments.filter { try $0.isSealed() }.count))
      } else {
        #expect(report.linkedSegments == 0)
      }
      previous = target
    }
    let continued = try EmbeddedLog.open(
      directory: "/copy6", disk: SimulatedDisk(disk.files), options: Sample.options(segmentBytes: 16 * 1024))
    #expect(continued.head == log.head && continued.recovery.tornTail == nil)
    try SealedSample.append(to: continued)
    try log.close()
  }

  @Test("segments that are sealed while they are copied do not make the copy inconsistent")
  func sealedMeanwhile() throws {
    let disk = try SealedSample.log(unsealed: 3)
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 16 * 1024))
    let key = try SealedSample.key(disk).verifier
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    var sealed = 0
    let report = try LogCopy(of: reader, to: "/copy", disk: disk).run { _ in
      if (try? log.sealNext()) == true { sealed += 1 }
      try? SealedSample.append(to: log)
    }
    #expect(sealed >= 3)
    #expect(try LogVerifier(directory: "/copy", disk: disk, key: key).run().head == report.head)
    try log.close()
  }

  @Test("a power cut at any moment leaves the earlier copy as it was, and the new one complete or unusable")
  func powerCut() throws {
    let source = try SealedSample.log(unsealed: 1)
    let key = try SealedSample.key(source).verifier
    _ = try copy(source, to: "/first")
    let expected = try records("/first", source)
    var completed = false
    var cuts = 0
    while !completed {
      cuts += 1
      let disk = SimulatedDisk(source.files, seed: UInt64(cuts))
      disk.plan(.powerCut, at: cuts, of: .changes)
      completed = (try? copy(disk, to: "/second", linkingTo: "/first")) != nil
      let after = disk.afterPowerCut()
      #expect(try records("/first", after) == expected)
      if let report = try? LogVerifier(directory: "/second", disk: after, key: key).run() {
        #expect(report.records == UInt64(expected.count))
      } else {
        #expect(!completed)
      }
    }
    #expect(cuts > 10)
  }

  @Test("a damaged segment of the earlier copy is found, and an unsealed one is not shared")
  func damagedEarlierCopy() throws {
    let disk = try SealedSample.log(unsealed: 2)
    let key = try SealedSample.key(disk).verifier
    let first = try copy(disk, to: "/first")
    let name = try #require(disk.paths(in: "/first/log").first { $0.hasSuffix(".seg") })
    disk.damage(name, at: LogFormat.segmentHeaderBytes + 100, with: [1, 2, 3, 4])
    let second = try copy(disk, to: "/second", linkingTo: "/first")
    #expect(second.linkedSegments == first.segments - 3)
    #expect(throws: LogError.self) { try LogVerifier(directory: "/second", disk: disk, key: key).run() }
    disk.damage(name, at: 8, with: [9])
    #expect(try copy(disk, to: "/third", linkingTo: "/first").linkedSegments == second.linkedSegments - 1)
    #expect(try LogVerifier(directory: "/third", disk: disk, key: key).run().head == first.head)
  }
}
