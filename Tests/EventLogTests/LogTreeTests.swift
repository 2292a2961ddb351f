import ChatPrimitives
import EventLogSimulation
import Testing

@testable import EventLog

@Suite("The tree of a log, its heads and proofs")
struct LogTreeTests {
  /// The tree by its definition, over the records' own leaves.
  private func naive(_ records: some Sequence<LogRecord>) throws -> MerkleFrontier {
    var keys = CommitmentKeys()
    var frontier = MerkleFrontier()
    for record in records { frontier.append(try keys.leaf(of: record)) }
    return frontier
  }

  @Test("the root is that of the records, sealed or not", arguments: [0, 1, 3, Int.max])
  func root(unsealed: Int) throws {
    let disk = try SealedSample.log(records: 700, unsealed: unsealed)
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    #expect(try LogTree(reader).frontier == naive(reader.allRecords()))
  }

  @Test("every record is proven, across seals and in the part that is not sealed")
  func inclusion() throws {
    let disk = try SealedSample.log(records: 700, unsealed: 2)
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let key = try SealedSample.key(disk)
    let tree = try LogTree(reader)
    for position in [1, 2, 12, 13, 255, 256, 257, 300, 511, 512, 513, 600, reader.head.value] {
      let proof = try tree.inclusion(of: LogPosition(position), by: key)
      let parsed = try InclusionProof(parsing: proof.encoded())
      #expect(try parsed.verify(by: key.verifier).size == reader.head.value)
      #expect(parsed.position.value == position)
      #expect(parsed.record.envelope == SealedSample.record(position).envelope)
      let shown = position <= 12 ? nil : SealedSample.record(position).payload.retained
      #expect(parsed.record.opening?.payload == shown, "a registration holds the key")
      #expect(throws: CheckpointFlaw.self) { try parsed.verify(by: SealedSample.foreignKey(reader.identity).verifier) }
    }
    let hidden = try tree.inclusion(of: LogPosition(300), by: key) { _ in false }
    #expect(hidden.record.opening == nil)
    #expect(try InclusionProof(parsing: hidden.encoded()).verify(by: key.verifier).size == reader.head.value)
    for beyond in [0, reader.head.value + 1] {
      #expect(logError { _ = try tree.inclusion(of: LogPosition(beyond), by: key) }?.code == .outOfRange)
    }
  }

  @Test("every older head is proven to be a beginning of the log")
  func consistency() throws {
    let disk = try SealedSample.log(records: 700, unsealed: 2)
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let records = try reader.allRecords()
    let key = try SealedSample.key(disk)
    let tree = try LogTree(reader)
    for size in [0, 1, 2, 255, 256, 257, 512, 690, records.count] {
      let old = try key.sign(size: UInt64(size), root: naive(records.prefix(size)).root)
      #expect(try tree.root(size: UInt64(size)) == Checkpoint(verifying: old, by: key.verifier).root)
      let proof = try ConsistencyProof(parsing: tree.consistency(since: UInt64(size), by: key).encoded())
      #expect(try proof.verify(since: old, by: key.verifier).size == UInt64(records.count))
      let other = try key.sign(size: UInt64(size), root: naive(records.suffix(max(size, 1))).root)
      if size != records.count, size > 0 {
        #expect(throws: CheckpointFlaw.self) { try proof.verify(since: other, by: key.verifier) }
      }
    }
  }

  @Test("an erased author leaves every leaf: erased records, kept ones with their salts, and no key")
  func erasure() throws {
    let disk = try SealedSample.log(records: 700, unsealed: .max)
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let records = try reader.allRecords()
    let key = try SealedSample.key(disk)
    let head = try Checkpoint(verifying: LogTree(reader).checkpoint(by: key), by: key.verifier)
    let erased = try ErasedCopy(of: records, author: SealedSample.user(3), keeping: { $0.position.value % 5 == 0 })
      .records
    #expect(erased.count { $0.payload.form == .erased } > 20)
    #expect(erased.count { $0.payload.form == .retainedWithSalt } > 5)
    let words = reader.identity.bytes
    let numbers = Numbers([words.high, words.low] + (1...5_000).map { $0 })
    let copy = SimulatedDisk(disk.files.filter { $0.key.contains("/checkpoint.") })
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: copy,
      options: LogOptions(
        segmentBytes: 16 * 1024, preparesAhead: false, sealsInBackground: false, random: { numbers.next() }))
    for record in erased {
      var builder = BlockBuilder(first: log.head.next)
      try builder.append(record.envelope, payload: record.payload)
      try log.append(builder)
    }
    while try log.sealNext() {}
    try log.close()
    let report = try LogVerifier(directory: dataDirectory, disk: copy, checkpoints: [KeptHead(head, name: "kept")])
      .run()
    #expect(report.root == head.root && report.erased == erased.count { $0.payload.form == .erased })
    let tree = try LogTree(LogReader.open(directory: dataDirectory, disk: copy))
    for position in [3, 14, 15, 26, 50, 699] as [UInt64] {
      let proof = try tree.inclusion(of: LogPosition(position), by: key)
      #expect(try proof.verify(by: key.verifier).root == head.root)
      #expect((proof.record.opening == nil) == (erased[Int(position) - 1].payload.form == .erased))
    }
  }

  @Test("a record of an erased author that was kept without its salt is refused")
  func keptWithoutSalt() throws {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options())
    var builder = BlockBuilder(first: .first)
    try builder.append(SealedSample.record(3).envelope, payload: .erased(digest: [UInt8](repeating: 1, count: 32)))
    var later = SealedSample.record(30).envelope
    later.actor = SealedSample.user(3)
    try builder.append(later, payload: .retained([1]))
    try log.append(builder)
    try log.close()
    let error = logError { _ = try LogVerifier(directory: dataDirectory, disk: disk).run() }
    #expect(error?.code == .corrupt && error?.location?.position == LogPosition(2))
  }
}
