import ChatPrimitives
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import EventLog

/// Runs all threads of the log at once. `Tools/sanitize` runs these tests under ThreadSanitizer.
@Suite("Many threads")
struct ConcurrencyTests {
  /// Calls `body` with a data directory on a real disk. The lock of a simulated disk would serialise all its users, and
  /// so hide their data races.
  private func withDirectory(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "hansard-threads-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
  }

  /// Runs each body on a separate thread and returns when all have ended.
  private func onThreads(_ bodies: [@Sendable () throws -> Void]) {
    let group = DispatchGroup()
    for body in bodies {
      group.enter()
      Thread.detachNewThread {
        #expect(throws: Never.self) { try body() }
        group.leave()
      }
    }
    group.wait()
  }

  /// Reads and checks everything up to the head, again and again until the writer is done.
  private func readAlong(_ log: EmbeddedLog, until isDone: @Sendable () -> Bool) throws {
    var rounds = 0
    repeat {
      var position = LogPosition.first
      let head = log.head
      while position <= head {
        let block = try log.block(containing: position)
        #expect(block.first <= position && position <= block.last)
        for record in block.records { #expect(record.envelope == Sample.envelope(record.position.value)) }
        position = block.last.next
      }
      rounds += 1
    } while !isDone() || rounds < 2
  }

  /// Reads the indexes while the sealer replaces them.
  private func askIndexes(_ log: EmbeddedLog, until isDone: @Sendable () -> Bool) throws {
    var number: UInt64 = 0
    repeat {
      number += 1
      let stream = Sample.envelope(number % 7).stream
      _ = try log.candidateBlocks(of: stream, from: .first)
      let start = try log.start(notBefore: Sample.envelope(log.head.value / 2).time)
      #expect(start <= log.head.next)
      #expect(try log.segmentsToSeal() >= 0)
      _ = (log.lastTime, log.poison, log.blocksRead, log.bytesRead)
    } while !isDone()
  }

  @Test("concurrent appending, preparing, sealing, reading and queries lose and corrupt nothing")
  func everything() throws {
    try withDirectory { try everything(in: $0) }
  }

  private func everything(in directory: String) throws {
    let failures = Mutex<[LogError]>([])
    let options = LogOptions(
      segmentBytes: 16 * 1024, preparesAhead: true, sealsInBackground: true,
      onSealingFailure: { error in failures.withLock { $0.append(error) } }, now: { Sample.time })
    let log = try EmbeddedLog.open(directory: directory, options: options)
    try log.append(Sample.block(after: .origin, records: 1))
    let isWritten = Atomic(false)
    let blocks = 150
    let isDone: @Sendable () -> Bool = { isWritten.load(ordering: .acquiring) }
    onThreads([
      {
        defer { isWritten.store(true, ordering: .releasing) }
        for number in 0..<blocks {
          let count = number % 11 + 1
          try log.append(Sample.block(after: log.head, records: count, compressible: number % 2 == 0))
          if number % 20 == 0 { try log.noteIdle() }
        }
      },
      { try self.readAlong(log, until: isDone) },
      { try self.readAlong(log, until: isDone) },
      { try self.askIndexes(log, until: isDone) },
      {
        // A separate reader, like those of the tools, while the writer appends.
        let reader = try LogReader.open(directory: directory)
        repeat {
          let head = reader.head
          if head > .origin { #expect(try reader.block(containing: head).last >= head) }
        } while !isDone()
      },
    ])
    try log.roll()
    let deadline = Date.now + 30
    while try log.segmentsToSeal() > 0, Date.now < deadline { Thread.sleep(forTimeInterval: 0.01) }
    #expect(try log.segmentsToSeal() == 0)
    try log.close()
    #expect(failures.withLock { $0 } == [])
    let names = try PosixDisk().list(directory + "/log") ?? []
    #expect(
      names.count { $0.hasSuffix(SegmentName.suffix) } > 3 && names.contains { $0.hasSuffix(CheckpointName.suffix) })
    #expect(try LogVerifier(directory: directory).run().records == log.head.value)
  }

  @Test("the second of two writers is refused, and closing while a segment is sealed leaves a whole log")
  func collisions() throws {
    try withDirectory { try collisions(in: $0) }
  }

  private func collisions(in directory: String) throws {
    let options = LogOptions(segmentBytes: 16 * 1024, now: { Sample.time })
    let log = try EmbeddedLog.open(directory: directory, options: options)
    for _ in 0..<40 { try log.append(Sample.block(after: log.head, records: 8, compressible: false)) }
    let appends = Atomic(0)
    let attempt: @Sendable () throws -> Void = {
      for _ in 0..<40 {
        do {
          try log.append(Sample.block(after: log.head, records: 1))
          appends.add(1, ordering: .relaxed)
        } catch let error as LogError where error.code == .busy || error.code == .outOfOrder {
          continue
        }
      }
    }
    onThreads([attempt, attempt, attempt])
    #expect(log.head.value == UInt64(320 + appends.load(ordering: .relaxed)))
    try log.close()
    #expect(try LogVerifier(directory: directory).run().records == log.head.value)
  }
}
