import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

/// The sealed log, the tree head and the proofs under `Tests/Fixtures/v1`: five sealed segments with authors, erased and
/// salted records and stored nodes, and an active one. Their bytes never change; every later program must read them.
@Suite("Golden sealed files of version 1")
struct GoldenSealedTests {
  private let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Fixtures/v1").standardizedFileURL
  private static let head: UInt64 = 570

  private func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: fixtures.appending(path: name)))
  }

  private func key() throws -> VerifierKey {
    try VerifierKey(parsing: String(decoding: bytes("sealed/checkpoint.pub"), as: UTF8.self))
  }

  private static func record(_ number: UInt64) -> LogRecord {
    var record = SealedSample.record(number)
    if number % 50 == 33 { record.payload = .erased(digest: Sample.payload(number, count: 32)) }
    if number % 50 == 34 {
      record.payload = .retainedWithSalt(Array("kept".utf8), salt: Sample.payload(number, count: 16))
    }
    return record
  }

  @Test("the log is read, verified, and holds what was written")
  func log() throws {
    let directory = fixtures.appending(path: "sealed").path
    let reader = try LogReader.open(directory: directory)
    #expect(try reader.allRecords() == (1...Self.head).map(Self.record))
    let head = try Checkpoint(verifying: SignedNote(parsing: bytes("head.checkpoint")), by: key())
    let report = try LogVerifier(directory: directory, checkpoints: [KeptHead(head, name: "kept")]).run()
    #expect(report.sealedSegments == 5 && report.segments == 6 && report.treeHeads == 6 && report.erased == 11)
    #expect(head.size == Self.head && head.root == report.root)
    #expect(try LogTree(reader).frontier.root == head.root)
  }

  @Test("the proofs hold")
  func proofs() throws {
    let retained = try InclusionProof(parsing: bytes("retained.tlog-proof"))
    #expect(try retained.verify(by: key()).size == Self.head)
    #expect(retained.position == LogPosition(200))
    #expect(retained.record.opening?.payload == SealedSample.record(200).payload.retained)
    let erased = try InclusionProof(parsing: bytes("erased.tlog-proof"))
    #expect(try erased.verify(by: key()).size == Self.head)
    #expect(erased.position == LogPosition(233) && erased.record.opening == nil)
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
    #expect(try tree.inclusion(of: LogPosition(200), by: signer).encoded() == bytes("retained.tlog-proof"))
    #expect(try tree.inclusion(of: LogPosition(233), by: signer).encoded() == bytes("erased.tlog-proof"))
    #expect(try tree.consistency(since: 130, by: signer).encoded() == bytes("consistency.proof"))
  }

  @Test("a server goes on behind it, and seals what comes")
  func goesOn() throws {
    var files: [String: [UInt8]] = [:]
    for name in ["checkpoint.key", "checkpoint.pub"] { files["\(dataDirectory)/\(name)"] = try bytes("sealed/\(name)") }
    for name in try #require(try PosixDisk().list(fixtures.appending(path: "sealed/log").path)) {
      files["\(logDirectory)/\(name)"] = try bytes("sealed/log/\(name)")
    }
    let disk = SimulatedDisk(files)
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 24 * 1024))
    try SealedSample.append(to: log)
    try log.roll()
    #expect(try log.sealNext())
    try log.close()
    let head = try Checkpoint(verifying: SignedNote(parsing: bytes("head.checkpoint")), by: key())
    #expect(
      try LogVerifier(directory: dataDirectory, disk: disk, checkpoints: [KeptHead(head, name: "kept")]).run()
        .sealedSegments == 6)
  }
}
