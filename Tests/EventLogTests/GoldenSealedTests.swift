import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

/// The content of the sealed golden log: authors, one of them erased with some records kept; texts that compress, in
/// several blocks of one segment; and records that do not compress, each alone in a block.
enum GoldenSealed {
  static let head: UInt64 = 2010
  /// Records that are alone in their block and do not compress, so they are stored uncompressed, as columns and as
  /// rows.
  static let alone: [UInt64] = [570, head]

  static func records() throws -> [LogRecord] {
    try ErasedCopy(of: (1...head).map(said), author: SealedSample.user(3), keeping: { $0.position.value % 5 == 0 })
      .records
  }

  private static func said(_ number: UInt64) -> LogRecord {
    var record = SealedSample.record(number)
    if alone.contains(number) {
      record.payload = .retained(Sample.payload(number, count: number == head ? 8_000 : 40_000, compressible: false))
    } else if number > 570 {
      let text = Sample.payload(number % 7, count: 200) + Sample.payload(number, count: 4, compressible: false)
      record.payload = .retained([0x0a, 0xcc, 1] + text)
    }
    return record
  }
}

/// The sealed log, the tree head and the proofs in `Tests/Fixtures/v1`: seven sealed segments with an erased author,
/// stored nodes, an index of several blocks, a dictionary and all four codecs, and an active segment. Their bytes never
/// change, and every later program must read them.
@Suite("Golden sealed files of version 1")
struct GoldenSealedTests {
  private let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Fixtures/v1").standardizedFileURL
  private static let head = GoldenSealed.head

  private func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: fixtures.appending(path: name)))
  }

  private func key() throws -> VerifierKey {
    try VerifierKey(parsing: String(decoding: bytes("sealed/checkpoint.pub"), as: UTF8.self))
  }

  @Test("the log is read, verified, and holds what was written")
  func log() throws {
    let directory = fixtures.appending(path: "sealed").path
    let reader = try LogReader.open(directory: directory)
    #expect(try reader.allRecords() == GoldenSealed.records())
    var codecs: Set<BlockCodec> = []
    for position in GoldenSealed.alone + [1, 2_000, 2_001] {
      codecs.insert(try reader.block(containing: LogPosition(position)).codec)
    }
    #expect(codecs == [.stored, .lz4, .columnsStored, .columnsLZ4])
    let head = try Checkpoint(verifying: SignedNote(parsing: bytes("head.checkpoint")), by: key())
    let report = try LogVerifier(directory: directory, checkpoints: [KeptHead(head, name: "kept")]).run()
    #expect(report.sealedSegments == 7 && report.segments == 8 && report.treeHeads == 8 && report.erased == 135)
    #expect(head.size == Self.head && head.root == report.root)
    #expect(try LogTree(reader).frontier.root == head.root)
  }

  @Test("the proofs hold")
  func proofs() throws {
    let retained = try InclusionProof(parsing: bytes("retained.tlog-proof"))
    #expect(try retained.verify(by: key()).size == Self.head)
    #expect(retained.position == LogPosition(721))
    let expected = try GoldenSealed.records()[720].payload.retained
    #expect(retained.record.opening?.payload == expected)
    let erased = try InclusionProof(parsing: bytes("erased.tlog-proof"))
    #expect(try erased.verify(by: key()).size == Self.head)
    #expect(erased.position == LogPosition(26) && erased.record.opening == nil)
    let old = try SignedNote(parsing: bytes("sealed/log/00000000000000000130.checkpoint"))
    let consistency = try ConsistencyProof(parsing: bytes("consistency.proof"))
    #expect(try consistency.verify(since: old, by: key()).size == Self.head)
  }

  @Test("the program of today signs the same head and makes the same proofs")
  func madeAgain() throws {
    let directory = fixtures.appending(path: "sealed").path
    let reader = try LogReader.open(directory: directory)
    let signer = try #require(
      try CheckpointKey.load(directory: directory, identity: reader.identity, disk: PosixDisk()))
    let tree = try LogTree(reader)
    #expect(try tree.checkpoint(by: signer).encoded() == bytes("head.checkpoint"))
    #expect(try tree.inclusion(of: LogPosition(721), by: signer).encoded() == bytes("retained.tlog-proof"))
    #expect(try tree.inclusion(of: LogPosition(26), by: signer).encoded() == bytes("erased.tlog-proof"))
    #expect(try tree.consistency(since: 130, by: signer).encoded() == bytes("consistency.proof"))
  }

  @Test("a server can append to it, and seals later segments")
  func goesOn() throws {
    var files: [String: [UInt8]] = [:]
    for name in ["checkpoint.key", "checkpoint.pub"] { files["\(dataDirectory)/\(name)"] = try bytes("sealed/\(name)") }
    for name in try #require(try PosixDisk().list(fixtures.appending(path: "sealed/log").path)) {
      files["\(logDirectory)/\(name)"] = try bytes("sealed/log/\(name)")
    }
    let disk = SimulatedDisk(files)
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 16 * 1024))
    try SealedSample.append(to: log)
    try log.roll()
    while try log.sealNext() {}
    try log.close()
    let head = try Checkpoint(verifying: SignedNote(parsing: bytes("head.checkpoint")), by: key())
    let report = try LogVerifier(
      directory: dataDirectory, disk: disk, checkpoints: [KeptHead(head, name: "kept")]
    ).run()
    #expect(report.sealedSegments >= 8 && report.sealedSegments == report.segments - 1)
    #expect(report.treeHeads == report.sealedSegments + 1 && report.records > Self.head)
  }
}
