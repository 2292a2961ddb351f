import ChatPrimitives
import EventLogSimulation
import Foundation
import Testing

@testable import EventLog

@Suite("Erasure")
struct ErasureTests {
  private func records(_ disk: SimulatedDisk) throws -> [LogRecord] {
    try LogReader.open(directory: dataDirectory, disk: disk).allRecords()
  }

  /// A log whose segments are all sealed, and that was closed.
  private func sealed(records: Int = 600, segmentBytes: Int = 16 * 1024) throws -> SimulatedDisk {
    let disk = try SealedSample.log(records: records, segmentBytes: segmentBytes)
    let log = try ErasureSample.open(disk, segmentBytes: segmentBytes)
    try log.roll()
    while try log.sealNext() {}
    try log.close()
    return SimulatedDisk(disk.files)
  }

  @Test("payloads go, kept records get their own salts, and every leaf, head and proof stays valid")
  func keepsTree() throws {
    let disk = try sealed()
    let before = try records(disk)
    let key = try SealedSample.key(disk)
    let root = try LogVerifier(directory: dataDirectory, disk: disk).run().root
    let tree = try LogTree(LogReader.open(directory: dataDirectory, disk: disk))
    let proofs = try (1...before.count).map { try tree.inclusion(of: LogPosition(UInt64($0)), by: key).encoded() }
    let heads = disk.files.filter { $0.key.hasSuffix(".checkpoint") }

    let log = try ErasureSample.open(disk)
    let report = try #require(try log.erase(ErasureSample.plan(through: log.head)))
    let expected = try ErasureSample.expected(before)
    #expect(try log.allRecords() == expected && expected != before)
    let own = expected.filter { $0.envelope.actor == ErasureSample.user }
    let counts = try #require(report.users[ErasureSample.user])
    #expect(Int(counts.erased) == own.count { $0.payload.retained == nil } && counts.erased > 10)
    #expect(Int(counts.kept) == own.count { $0.payload.retained != nil } && counts.kept > 10)
    #expect(report.rewritten > 4 && report.segments >= report.rewritten)
    try log.close()

    let verified = try LogVerifier(directory: dataDirectory, disk: disk).run()
    #expect(verified.root == root && verified.treeHeads == heads.count && verified.erased == Int(counts.erased))
    #expect(disk.files.filter { $0.key.hasSuffix(".checkpoint") } == heads)
    let after = try LogTree(LogReader.open(directory: dataDirectory, disk: disk))
    for (number, proof) in proofs.enumerated() {
      #expect(try InclusionProof(parsing: proof).verify(by: key.verifier).root == root)
      let position = LogPosition(UInt64(number + 1))
      #expect(try after.inclusion(of: position, by: key).verify(by: key.verifier).root == root)
    }
  }

  @Test("no file has the texts any more, neither in blocks nor in a dictionary")
  func bytes() throws {
    let disk = try sealed(records: 6_000, segmentBytes: 1024 * 1024)
    let before = try records(disk)
    let texts = ErasureSample.texts(before)
    #expect(texts.count > 100)
    #expect(try dictionaryBytes(disk) > 0)
    #expect(!ErasureSample.files(disk, with: texts).isEmpty)
    let log = try ErasureSample.open(disk, segmentBytes: 1024 * 1024)
    _ = try log.erase(ErasureSample.plan(through: log.head))
    try log.close()
    #expect(try dictionaryBytes(disk) > 0)
    #expect(ErasureSample.files(disk, with: texts) == [])
    #expect(try records(disk) == ErasureSample.expected(before))
  }

  private func dictionaryBytes(_ disk: SimulatedDisk) throws -> Int {
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    return try reader.segments.dropLast().reduce(0) { sum, segment in
      sum + (try segment.header(segment.open()).header.seal?.sections.dictionary.rawBytes ?? 0)
    }
  }

  @Test("a repeated pass rewrites nothing and counts the same")
  func repeated() throws {
    let disk = try sealed()
    let log = try ErasureSample.open(disk)
    let plan = ErasureSample.plan(through: log.head)
    let first = try #require(try log.erase(plan))
    let files = disk.files
    let second = try #require(try log.erase(plan))
    #expect(second.users == first.users && second.rewritten == 0)
    #expect(disk.files == files)
  }

  @Test("the other records stay as they are, and the log goes on")
  func others() throws {
    let disk = try sealed()
    let log = try ErasureSample.open(disk)
    let before = try log.allRecords()
    let last = log.head
    for _ in 0..<60 { try SealedSample.append(to: log) }
    let appended = try log.allRecords().filter { $0.position > last && $0.envelope.actor != ErasureSample.user }
    _ = try log.erase(ErasureSample.plan(through: last))
    let after = try log.allRecords()
    #expect(after.filter { $0.position > last && $0.envelope.actor != ErasureSample.user } == appended)
    #expect(Array(after.prefix(before.count)) == (try ErasureSample.expected(before)))
  }

  @Test("several users are erased in one pass, also when one of them was erased before")
  func severalUsers() throws {
    let disk = try sealed()
    let log = try ErasureSample.open(disk)
    _ = try log.erase(ErasureSample.plan(through: log.head))
    let users = [3, 2, 12].map { SealedSample.user($0) }
    let report = try #require(try log.erase(ErasureSample.plan(through: log.head, users: users)))
    #expect(report.users.values.allSatisfy { $0.erased > 10 && $0.kept > 10 })
    let all = try log.allRecords()
    #expect(users.allSatisfy { user in all.contains { $0.isRegistration && $0.envelope.stream == user } })
    #expect(
      all.allSatisfy { $0.position.value > 12 || ($0.payload.retained == nil) == users.contains($0.envelope.stream) })
    try log.close()
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
  }

  @Test("a later pass can erase what an earlier one kept")
  func erasedLater() throws {
    let disk = try sealed()
    let log = try ErasureSample.open(disk)
    let before = try log.allRecords()
    _ = try log.erase(ErasureSample.plan(through: log.head))
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
    let last = try #require(try log.erase(ErasureSample.plan(through: log.head) { _, _ in true }))
    #expect(last.users[ErasureSample.user]?.kept == 0)
    #expect(try log.allRecords() == ErasureSample.expected(before) { _ in false })
    try log.close()
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
  }

  @Test("users whose records are not all sealed have to wait")
  func notSealed() throws {
    let disk = try SealedSample.log(unsealed: 1)
    let log = try ErasureSample.open(disk)
    let before = try log.allRecords()
    #expect(logError { _ = try log.erase(ErasureSample.plan(through: log.head)) }?.code == .busy)
    let sealed = try log.sealedThrough()
    #expect(sealed > .origin && sealed < log.head)
    #expect(logError { _ = try log.erase(ErasureSample.plan(through: sealed.next)) }?.code == .busy)
    #expect(try log.allRecords() == before && log.poison == nil)
  }

  // MARK: Authors

  /// A sealed log of the given records.
  private func log(_ records: [(RecordEnvelope, [UInt8])]) throws -> (SimulatedDisk, EmbeddedLog) {
    let disk = SimulatedDisk()
    let log = try ErasureSample.open(disk)
    var builder = BlockBuilder(first: .first)
    for (envelope, payload) in records { try builder.append(envelope, payload: payload) }
    try log.append(builder)
    try log.roll()
    #expect(try log.sealNext())
    return (disk, log)
  }

  private func registration(_ user: UInt64, by actor: UInt64?, hasKey: Bool = true) -> (RecordEnvelope, [UInt8]) {
    var envelope = SealedSample.record(1).envelope
    envelope.stream = SealedSample.user(user)
    envelope.actor = actor.map(SealedSample.user)
    let key = Sample.payload(user, count: CommitmentKey.byteCount, compressible: false)
    return (envelope, [0x0a, 3] + Array("ann".utf8) + (hasKey ? [0x2a, UInt8(key.count)] + key : []))
  }

  private func message(by user: UInt64, in stream: UInt64 = 100, streamKind: UInt8 = 2) -> (RecordEnvelope, [UInt8]) {
    var envelope = Sample.envelope(20, presence: 0)
    envelope.time = SealedSample.record(1).envelope.time
    envelope.streamKind = streamKind
    envelope.stream = SealedSample.user(stream)
    envelope.actor = SealedSample.user(user)
    return (envelope, Array("hello".utf8))
  }

  @Test("what others recorded in the user's stream is erased with their keys, and what they wrote elsewhere stays")
  func ownStreamByOthers() throws {
    let (disk, log) = try log([
      registration(1, by: 1), registration(3, by: 1), message(by: 1, in: 3, streamKind: 1), message(by: 1),
      message(by: 3),
    ])
    let root = try LogTree(LogReader.open(directory: dataDirectory, disk: disk)).frontier.root
    let report = try #require(
      try log.erase(ErasureSample.plan(through: log.head) { _, _ in true }))
    #expect(report.users[ErasureSample.user]?.erased == 3)
    #expect(try log.allRecords().map(\.payload.form) == [.retained, .erased, .erased, .retained, .erased])
    try log.close()
    #expect(try LogVerifier(directory: dataDirectory, disk: disk).run().root == root)
  }

  @Test("where one erased user recorded something about another, no key is missed afterwards")
  func twoUsersInOneStream() throws {
    let empty = (message(by: 3, in: 4, streamKind: 1).0, [UInt8]())
    let (disk, log) = try log([
      registration(3, by: 3), registration(4, by: 3), message(by: 3, in: 4, streamKind: 1), empty, message(by: 4),
    ])
    let root = try LogTree(LogReader.open(directory: dataDirectory, disk: disk)).frontier.root
    let users = [3, 4].map { SealedSample.user($0) }
    let report = try #require(
      try log.erase(ErasureSample.plan(through: log.head, users: users) { $0.streamKind == 1 && $0.stream == $1 }))
    #expect(report.users[users[0]]?.erased == 1 && report.users[users[1]]?.erased == 2)
    #expect(
      try log.allRecords().map(\.payload.form)
        == [.erased, .erased, .erased, .retainedWithSalt, .retainedWithSalt])
    try log.close()
    #expect(try LogVerifier(directory: dataDirectory, disk: disk).run().root == root)
  }

  @Test("if a registration has no key, all records of the user are erased, and records before it stay")
  func withoutKey() throws {
    let (disk, log) = try log([
      registration(1, by: 1), message(by: 3), registration(3, by: 1, hasKey: false), message(by: 3), message(by: 1),
    ])
    let root = try LogTree(LogReader.open(directory: dataDirectory, disk: disk)).frontier.root
    _ = try log.erase(
      ErasureSample.plan(through: log.head) { envelope, _ in envelope.streamKind == 1 })
    #expect(try log.allRecords().map(\.payload.form) == [.retained, .retained, .erased, .erased, .retained])
    try log.close()
    #expect(try LogVerifier(directory: dataDirectory, disk: disk).run().root == root)
  }

  @Test("a record without a payload gets its own salt, and nobody is asked about it")
  func emptyPayload() throws {
    let empty = (message(by: 3).0, [UInt8]())
    let (disk, log) = try log([registration(3, by: 3), empty, message(by: 3)])
    _ = try log.erase(ErasureSample.plan(through: log.head) { _, _ in true })
    let all = try log.allRecords()
    #expect(all.map(\.payload.form) == [.erased, .retainedWithSalt, .erased] && all[1].payload.retained == [])
    try log.close()
    _ = try LogVerifier(directory: dataDirectory, disk: disk).run()
  }

  // MARK: Other files

  @Test("torn tails of full segments are removed, and that of the last one stays")
  func tornTails() throws {
    var files = try sealed().files
    let head = try LogReader.open(directory: dataDirectory, disk: SimulatedDisk(files)).head
    let old = "\(logDirectory)/torn-\(SegmentName.digits(of: LogPosition(40)))-7.bin"
    let new = "\(logDirectory)/torn-\(SegmentName.digits(of: head.next))-7.bin"
    files[old] = [1, 2, 3]
    files[new] = [4, 5, 6]
    files["\(logDirectory)/torn-notes"] = [7]
    let disk = SimulatedDisk(files)
    let log = try ErasureSample.open(disk)
    _ = try log.erase(ErasureSample.plan(through: log.head))
    #expect(disk.files[old] == nil && disk.files[new] == [4, 5, 6] && disk.files["\(logDirectory)/torn-notes"] == [7])
  }
}
