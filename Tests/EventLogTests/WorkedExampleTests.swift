import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

/// The log that `docs/log-format.md` shows byte by byte.
enum WorkedExample {
  static let identity = UUIDBytes(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
  static let created = Timestamp(milliseconds: 1_767_225_600_000)  // 2026-01-01T00:00:00Z
  static let segmentBytes = 5120
  static let salt: UInt64 = 0x5a5a_1234_0bad_cafe

  static let records: [LogRecord] = [
    LogRecord(
      position: .first,
      envelope: RecordEnvelope(
        kind: 7, payloadVersion: 1, streamKind: 2,
        stream: UUIDBytes(high: 0xa1a2_a3a4_a5a6_a7a8, low: 0xa9aa_abac_adae_afb0),
        streamVersion: StreamVersion(0x0102_0304_0506_0708), time: created.adding(milliseconds: 1)),
      payload: .retained(Array("Hi".utf8))),
    LogRecord(
      position: LogPosition(2),
      envelope: RecordEnvelope(
        kind: 8, payloadVersion: 1, streamKind: 2,
        stream: UUIDBytes(high: 0xa1a2_a3a4_a5a6_a7a8, low: 0xa9aa_abac_adae_afb0),
        streamVersion: StreamVersion(0x0102_0304_0506_0709), time: created.adding(milliseconds: 2),
        actor: UUIDBytes(high: 0xc1c2_c3c4_c5c6_c7c8, low: 0xc9ca_cbcc_cdce_cfd0),
        originalTime: created.adding(milliseconds: -1)),
      payload: .retained(Array("Hello, hello, hello".utf8))),
    LogRecord(
      position: LogPosition(3),
      envelope: RecordEnvelope(
        kind: 9, payloadVersion: 1, streamKind: 2,
        stream: UUIDBytes(high: 0xa1a2_a3a4_a5a6_a7a8, low: 0xa9aa_abac_adae_afb0),
        streamVersion: StreamVersion(0x0102_0304_0506_070a), time: created.adding(milliseconds: 2)),
      payload: .erased(digest: [UInt8](repeating: 0xdd, count: 32))),
  ]

  /// Writes the example: the first record in its own block, the others in a second block, then a clean close.
  static func write() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let numbers = Numbers([identity.high, identity.low, salt])
    let options = LogOptions(
      segmentBytes: segmentBytes, preparesAhead: false, now: { created }, random: { numbers.next() })
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: options)
    var first = BlockBuilder(first: .first)
    try first.append(records[0].envelope, payload: records[0].payload)
    try log.append(first)
    var second = BlockBuilder(first: LogPosition(2))
    for record in records[1...] { try second.append(record.envelope, payload: record.payload) }
    try log.append(second)
    try log.close()
    return disk
  }
}

@Suite("The worked example of docs/log-format.md")
struct WorkedExampleTests {
  /// The bytes of a hex block. Lines that are left out are zeros.
  private func bytes(of name: String, count: Int) throws -> [UInt8] {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/log-format.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex(of: "```hex \(name)"))
    let end = try #require(lines[(start + 1)...].firstIndex(of: "```"))
    var bytes = [UInt8](repeating: 0, count: count)
    for line in lines[(start + 1)..<end] {
      let columns = line.split(separator: " ")
      let offset = try #require(columns.first.flatMap { Int($0, radix: 16) })
      for (index, column) in columns.dropFirst().enumerated() {
        bytes[offset + index] = try #require(UInt8(column, radix: 16))
      }
    }
    return bytes
  }

  private func documented() throws -> [String: [UInt8]] {
    [
      "\(logDirectory)/superblock": try bytes(of: "superblock", count: Superblock.fileBytes),
      "\(logDirectory)/00000000000000000001.seg": try bytes(
        of: "00000000000000000001.seg", count: WorkedExample.segmentBytes),
    ]
  }

  @Test("its bytes are read as the records that the page describes, and verify passes")
  func decodes() throws {
    let disk = SimulatedDisk(try documented())
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    #expect(reader.identity.bytes == WorkedExample.identity)
    #expect(reader.head == LogPosition(3))
    #expect(try reader.allRecords() == WorkedExample.records)
    #expect(try reader.block(containing: .first).codec == .stored)
    #expect(try reader.block(containing: LogPosition(2)).codec == .lz4)
    let report = try LogVerifier(directory: dataDirectory, disk: disk).run()
    #expect(report.blocks == 2 && report.bytesBehindHead == 0)
    _ = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    #expect(disk.files.filter { $0.key.hasPrefix(logDirectory) } == (try documented()))
  }

  /// The bytes are compared up to the second block. How LZ4 compresses that block depends on its version, so there the
  /// records are compared.
  @Test("the code writes the same bytes")
  func encodes() throws {
    let disk = try WorkedExample.write()
    let determined = [
      "\(logDirectory)/superblock": Superblock.fileBytes, "\(logDirectory)/00000000000000000001.seg": 0x1078,
    ]
    for (path, expected) in try documented() {
      let actual = try #require(disk.files[path])
      let count = try #require(determined[path])
      #expect(actual.count == expected.count)
      #expect(actual.prefix(count) == expected.prefix(count), "\(path) as written:\n\(hex(actual))")
    }
    #expect(try LogReader.open(directory: dataDirectory, disk: disk).allRecords() == WorkedExample.records)
  }

  private func hex(_ bytes: [UInt8]) -> String {
    stride(from: 0, to: bytes.count, by: 16).compactMap { start in
      let row = bytes[start..<min(start + 16, bytes.count)]
      guard row.contains(where: { $0 != 0 }) else { return nil }
      let digits = row.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
      let offset = String(start, radix: 16)
      return String(repeating: "0", count: 8 - offset.count) + offset + "  " + digits
    }.joined(separator: "\n")
  }
}
