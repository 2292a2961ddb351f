import ChatPrimitives
import EventLogSimulation
import Foundation
import Synchronization
import Testing

@testable import EventLog

/// The data directory of every log on a simulated disk.
let dataDirectory = "/data"
let logDirectory = "/data/log"

/// Records, options and logs that the tests share. They depend only on the arguments.
enum Sample {
  static let time = Timestamp(milliseconds: 1_767_225_600_000)

  /// An envelope in which each optional field is present if its bit is set.
  static func envelope(_ number: UInt64, presence: Int = 0b1_0101) -> RecordEnvelope {
    func field(_ bit: Int) -> UUIDBytes? {
      presence & (1 << bit) == 0 ? nil : UUIDBytes(high: number, low: UInt64(bit + 1))
    }
    return RecordEnvelope(
      kind: UInt16(number % 40 + 1), payloadVersion: 1, streamKind: 2,
      stream: UUIDBytes(high: 0x0102_0304_0506_0708, low: number % 7), streamVersion: StreamVersion(number / 7 + 1),
      time: Timestamp(milliseconds: time.milliseconds + Int64(number)), actor: field(0), service: field(1),
      device: field(2), subject: field(3), command: field(4),
      originalTime: presence & 0b10_0000 == 0 ? nil : Timestamp(milliseconds: Int64(number) - 5))
  }

  /// Bytes that LZ4 can shrink, or that it cannot.
  static func payload(_ number: UInt64, count: Int, compressible: Bool = true) -> [UInt8] {
    if compressible { return (0..<count).map { UInt8($0 % 13) } }
    var state = number &* 0x9e37_79b9_7f4a_7c15 | 1
    return (0..<count).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  static func block(
    after head: LogPosition, records: Int, payloadBytes: Int = 100, compressible: Bool = true
  ) throws -> BlockBuilder {
    var builder = BlockBuilder(first: head.next)
    for _ in 0..<records {
      let number = builder.next.value
      try builder.append(
        envelope(number), payload: payload(number, count: payloadBytes, compressible: compressible))
    }
    return builder
  }

  /// A fixed clock, random bits that count up, and nothing in the background.
  static func options(segmentBytes: Int = 64 * 1024) -> LogOptions {
    let counter = Counter()
    return LogOptions(
      segmentBytes: segmentBytes, preparesAhead: false, sealsInBackground: false, now: { time },
      random: { counter.next() })
  }

  private final class Counter: Sendable {
    private let value = Atomic<UInt64>(0x1122_3344_5566_7700)

    func next() -> UInt64 { value.add(1, ordering: .relaxed).newValue }
  }

  /// A log of blocks with the given numbers of records, closed or as a crash would leave it.
  static func log(
    blocks: [Int], segmentBytes: Int = 64 * 1024, payloadBytes: Int = 100, closed: Bool = true
  ) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: options(segmentBytes: segmentBytes))
    for (number, records) in blocks.enumerated() {
      try log.append(
        block(after: log.head, records: records, payloadBytes: payloadBytes, compressible: number % 3 != 0))
    }
    if closed { try log.close() }
    return SimulatedDisk(disk.files)
  }
}

extension BlockSource {
  /// Every record up to the head.
  func allRecords() throws -> [LogRecord] {
    var records: [LogRecord] = []
    var position = LogPosition.first
    while position <= head {
      let block = try block(containing: position)
      records += block.records
      position = block.last.next
    }
    return records
  }
}

/// Returns the given numbers in order, then zeros.
final class Numbers: Sendable {
  private let rest: Mutex<[UInt64]>

  init(_ numbers: [UInt64]) {
    rest = Mutex(numbers)
  }

  func next() -> UInt64 {
    rest.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
  }
}

/// The paths of a disk's segments, in order.
func segmentPaths(_ disk: SimulatedDisk) -> [String] {
  disk.paths(in: logDirectory).filter { $0.hasSuffix(".seg") }
}

/// The error that a call throws. If it throws none, records an issue and returns nil.
func logError(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> LogError? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    return nil
  } catch {
    let found = error as? LogError
    if found == nil { Issue.record("\(error) is no LogError", sourceLocation: sourceLocation) }
    return found
  }
}
