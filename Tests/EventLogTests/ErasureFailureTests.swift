import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

@Suite("Erasure that is interrupted, fails or has readers beside it")
struct ErasureFailureTests {
  private func sealed() throws -> [String: [UInt8]] {
    let disk = try SealedSample.log()
    let log = try ErasureSample.open(disk)
    try log.roll()
    while try log.sealNext() {}
    try log.close()
    return disk.files
  }

  /// Checks that a log is valid, finishes the erasure, and checks the result.
  private func finish(_ disk: SimulatedDisk, _ before: [LogRecord], _ context: Comment) throws {
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
    let log = try ErasureSample.open(disk)
    _ = try #require(try log.erase(ErasureSample.plan(through: LogPosition(UInt64(before.count)))))
    try log.close()
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
    let records = try LogReader.open(directory: dataDirectory, disk: disk).allRecords()
    #expect(records == (try ErasureSample.expected(before)), context)
    #expect(ErasureSample.files(disk, with: ErasureSample.texts(before)) == [], context)
    #expect(!disk.files.keys.contains { $0.hasSuffix(".tmp") }, context)
  }

  @Test("after a power cut or a kill at any change the log is valid, and the next pass does the rest")
  func everyCrash() throws {
    let files = try sealed()
    let before = try LogReader.open(directory: dataDirectory, disk: SimulatedDisk(files)).allRecords()
    var points = 0
    while true {
      let disk = SimulatedDisk(files, seed: UInt64(points))
      let log = try ErasureSample.open(disk)
      disk.plan(.powerCut, at: points + 1, of: .changes)
      let report = try? log.erase(ErasureSample.plan(through: log.head))
      guard disk.isDown else {
        #expect(report != nil)
        break
      }
      #expect(report == nil)
      try finish(disk.afterPowerCut(), before, "power cut at change \(points + 1)")
      try finish(disk.afterKill(), before, "kill at change \(points + 1)")
      points += 1
    }
    #expect(points > 20)
  }

  @Test("the registration disappears last, so that what remains always has the key that it needs")
  func order() throws {
    let disk = SimulatedDisk(try sealed())
    let log = try ErasureSample.open(disk)
    let plan = ErasureSample.plan(through: log.head)
    var (stop, total): (UInt64, UInt64) = (0, 1)
    while stop < total {
      stop += 1
      var done: UInt64 = 0
      let mustStop = { done >= stop }
      let report = try log.erase(
        plan, mustStop: mustStop,
        progress: {
          done = $0
          total = $1
        })
      #expect(report == nil && done == stop)
      _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
      let registration = try log.block(containing: LogPosition(3)).records[2]
      #expect((registration.payload.retained == nil) == (stop == total))
    }
    #expect(total > 4)
    #expect(try log.erase(plan)?.rewritten == 0)
  }

  @Test("a failure leaves the log in use, and a later pass completes the erasure", arguments: 1...20)
  func failure(call: Int) throws {
    let disk = SimulatedDisk(try sealed())
    let before = try LogReader.open(directory: dataDirectory, disk: disk).allRecords()
    let log = try ErasureSample.open(disk)
    disk.plan(.fullDisk, at: call, of: [.write, .sync, .rename, .remove, .syncDirectory])
    let error = logError { _ = try log.erase(ErasureSample.plan(through: log.head)) }
    #expect(error?.code == .fullDisk && log.poison == nil)
    disk.forgetPlans()
    try SealedSample.append(to: log)
    try log.close()
    let head = LogPosition(UInt64(before.count))
    let again = try ErasureSample.open(disk)
    _ = try #require(try again.erase(ErasureSample.plan(through: head)))
    let expected = try ErasureSample.expected(before)
    #expect(try again.allRecords().prefix(before.count) == expected[...])
    #expect(!disk.files.keys.contains { $0.hasSuffix(".tmp") })
  }

  @Test("after a swap whose sync failed nothing more is erased until the log is opened again")
  func lostSync() throws {
    let files = try sealed()
    let disk = SimulatedDisk(files)
    let before = try LogReader.open(directory: dataDirectory, disk: disk).allRecords()
    let log = try ErasureSample.open(disk)
    disk.plan(.inputOutput, at: 1, of: .syncDirectory)
    let plan = ErasureSample.plan(through: log.head)
    #expect(logError { _ = try log.erase(plan) }?.code == .io)
    #expect(try log.erase(plan) == nil)
    try log.close()
    try finish(SimulatedDisk(disk.files), before, "after opening")
  }

  @Test("a closed log ends a pass that rests")
  func close() throws {
    let disk = SimulatedDisk(try sealed())
    let log = try ErasureSample.open(disk)
    let (started, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let reports = Numbers([1])
    Thread.detachNewThread {
      let report = try? log.erase(
        ErasureSample.plan(through: log.head), resting: 1_000_000, progress: { _, _ in started.signal() })
      if report == nil { _ = reports.next() }
      ended.signal()
    }
    started.wait()
    try log.close()
    ended.wait()
    #expect(reports.next() == 0, "the pass was stopped")
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
  }

  // MARK: Readers

  @Test("readers of the old files and of the new ones read on")
  func besideReaders() throws {
    let disk = SimulatedDisk(try sealed())
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let before = try reader.allRecords()
    let log = try ErasureSample.open(disk)
    let expected = try ErasureSample.expected(before)
    _ = try log.erase(
      ErasureSample.plan(through: log.head),
      progress: { _, _ in
        for source in [reader as any BlockSource, log] {
          let records = try? source.allRecords()
          #expect(records?.count == before.count)
          for (number, record) in (records ?? []).enumerated() {
            #expect(record == before[number] || record == expected[number])
          }
        }
      })
    #expect(try log.allRecords() == expected)
    let late = try LogReader.open(directory: dataDirectory, disk: disk)
    #expect(try late.allRecords() == expected)
    #expect(try log.candidateBlocks(of: ErasureSample.user, from: .first).ranges.first?.lowerBound == .first)
  }

  @Test("a search for a stream finds each record once when its segments are rewritten meanwhile", arguments: 0...4)
  func streamBesideErasure(blocks: Int) throws {
    // Texts that compress well make blocks of many records, whose borders move when the texts go.
    let disk = SimulatedDisk()
    let log = try ErasureSample.open(disk, segmentBytes: 256 * 1024)
    for number in 0..<40 {
      var builder = BlockBuilder(first: log.head.next)
      for _ in 0..<200 {
        var envelope = Sample.envelope(builder.next.value, presence: 0)
        envelope.actor = number == 0 ? nil : ErasureSample.user
        envelope.stream = SealedSample.user(100 + builder.next.value % 50)
        try builder.append(envelope, payload: Sample.payload(builder.next.value, count: number % 3 * 150))
      }
      try log.append(builder)
    }
    try log.roll()
    while try log.sealNext() {}
    let stream = SealedSample.user(107)
    let expected = try log.allRecords().filter { $0.envelope.stream == stream }.map(\.position)
    var found: [LogPosition] = []
    var count = 0
    var search = StreamBlocks(log, stream: stream, from: .first, through: log.head)
    while let block = try search.next() {
      found += block.records.filter { $0.envelope.stream == stream }.map(\.position)
      if count == blocks { _ = try log.erase(ErasureSample.plan(through: log.head) { _, _ in true }) }
      count += 1
    }
    #expect(count > blocks && found == expected)
  }

  @Test("verify passes while a server erases, however far it has come", arguments: 0...3)
  func verifyBesideErasure(steps: Int) throws {
    let disk = SimulatedDisk(try sealed())
    let log = try ErasureSample.open(disk)
    var calls = 0
    let report = try LogVerifier(directory: dataDirectory, disk: disk).run { _, _ in
      calls += 1
      guard calls == steps * 3 + 1 else { return }
      #expect(throws: Never.self) { _ = try log.erase(ErasureSample.plan(through: log.head)) }
    }
    #expect(calls > steps * 3 && report.records == log.head.value)
  }

  @Test("a copy that is made while a server erases is valid", arguments: 1...6)
  func copyBesideErasure(step: UInt64) throws {
    let disk = SimulatedDisk(try sealed())
    let log = try ErasureSample.open(disk)
    let before = try log.allRecords()
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    _ = try LogCopy(of: reader, to: "/copy", disk: disk).run { done in
      guard done == step else { return }
      #expect(throws: Never.self) { _ = try log.erase(ErasureSample.plan(through: log.head)) }
    }
    _ = try LogVerifier(directory: "/copy", disk: disk, key: try SealedSample.key(disk).verifier).run()
    let copied = try LogReader.open(directory: "/copy", disk: disk).allRecords()
    #expect(copied == (try ErasureSample.expected(before)))
  }

  @Test("a copy does not share the segments that were rewritten since the copy before it")
  func nextCopy() throws {
    let disk = SimulatedDisk(try sealed())
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let before = try reader.allRecords()
    _ = try LogCopy(of: reader, to: "/one", disk: disk).run()
    let log = try ErasureSample.open(disk)
    let erased = try #require(try log.erase(ErasureSample.plan(through: log.head)))
    let report = try LogCopy(of: reader, to: "/two", linkingTo: "/one", disk: disk).run()
    #expect(erased.rewritten > 4 && report.linkedSegments == erased.segments - erased.rewritten)
    let texts = ErasureSample.texts(before)
    #expect(ErasureSample.files(disk, with: texts).allSatisfy { $0.hasPrefix("/one/") })
    _ = try LogVerifier(directory: "/two", disk: disk, key: try SealedSample.key(disk).verifier).run()
  }
}
