import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

/// The log in `Tests/Fixtures/v1`: three segments, written by the first program that wrote version 1. Its bytes never
/// change, and every later program must open it.
@Suite("Golden files of version 1")
struct GoldenFileTests {
  private let directory = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Fixtures/v1").standardizedFileURL.path

  /// The number of records in each block of the fixture, which has every combination of fields and every form of
  /// payload.
  static let blocks = [1, 9, 2, 30, 22]

  static func record(_ number: UInt64) -> LogRecord {
    let presence = Int(number) - 1
    let payload: RecordPayload =
      switch number % 8 {
      case 3: .erased(digest: Sample.payload(number, count: 32, compressible: false))
      case 5: .retainedWithSalt(Array("kept \(number)".utf8), salt: Sample.payload(number, count: 16))
      case 7: .retained([])
      default: .retained(Array("message \(number)".utf8))
      }
    return LogRecord(
      position: LogPosition(number), envelope: Sample.envelope(number, presence: presence), payload: payload)
  }

  static func write(to directory: String, disk: any Disk) throws {
    let log = try EmbeddedLog.open(directory: directory, disk: disk, options: Sample.options(segmentBytes: 5120))
    for count in blocks {
      var builder = BlockBuilder(first: log.head.next)
      for _ in 0..<count {
        let record = record(builder.next.value)
        try builder.append(record.envelope, payload: record.payload)
      }
      try log.append(builder)
    }
    try log.close()
  }

  @Test("they are read, verified, and hold what was written")
  func reads() throws {
    let reader = try LogReader.open(directory: directory)
    let expected = (1...64).map { Self.record(UInt64($0)) }
    #expect(try reader.allRecords() == expected)
    let report = try LogVerifier(directory: directory).run()
    #expect(report.records == 64 && report.blocks == 5 && report.segments == 3)
  }

  @Test("a writer can append to them")
  func appends() throws {
    var files: [String: [UInt8]] = [:]
    for name in try #require(try PosixDisk().list(directory + "/log")) {
      files["\(logDirectory)/\(name)"] = [UInt8](
        try Data(contentsOf: URL(filePath: directory + "/log/" + name)))
    }
    let disk = SimulatedDisk(files)
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 5120))
    try log.append(Sample.block(after: log.head, records: 3))
    #expect(try log.allRecords().count == 67)
  }

  @Test("the program of today writes the same headers and records")
  func writesTheSame() throws {
    let disk = SimulatedDisk()
    try Self.write(to: dataDirectory, disk: disk)
    let written = try LogReader.open(directory: dataDirectory, disk: disk)
    #expect(try written.allRecords() == LogReader.open(directory: directory).allRecords())
    for name in ["superblock", "00000000000000000001.seg"] {
      let golden = [UInt8](try Data(contentsOf: URL(filePath: directory + "/log/" + name)))
      let actual = try #require(disk.files["\(logDirectory)/\(name)"])
      #expect(actual.count == golden.count)
      #expect(actual.prefix(4096) == golden.prefix(4096))
    }
  }
}
