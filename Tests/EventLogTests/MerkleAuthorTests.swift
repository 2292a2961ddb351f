import ChatPrimitives
import Testing

@testable import EventLog

@Suite("Authors of records")
struct MerkleAuthorTests {
  private static let key = [UInt8](0x40..<0x60)
  private static let payload = [0x2a, 32] + key
  private static let text = RecordPayload.retained(Array("Hello".utf8))

  private func user(_ number: UInt64) -> UUIDBytes { UUIDBytes(high: 7, low: number) }

  private func record(
    _ position: UInt64, kind: UInt16 = 30, streamKind: UInt8 = 2, stream: UInt64 = 99, actor: UInt64?,
    _ payload: RecordPayload = MerkleAuthorTests.text
  ) -> LogRecord {
    let envelope = RecordEnvelope(
      kind: kind, payloadVersion: 1, streamKind: streamKind, stream: user(stream), streamVersion: StreamVersion(1),
      time: Sample.time, actor: actor.map { user($0) })
    return LogRecord(position: LogPosition(position), envelope: envelope, payload: payload)
  }

  private func registration(
    _ position: UInt64, of number: UInt64, _ payload: RecordPayload = .retained(MerkleAuthorTests.payload)
  ) -> LogRecord {
    record(position, kind: 1, streamKind: 1, stream: number, actor: number, payload)
  }

  private func known() throws -> AuthorKey { .key(try #require(CommitmentKey(bytes: Self.key))) }

  @Test("an author has no key before the registration, and its key from it on, the registration included")
  func learning() throws {
    var keys = CommitmentKeys()
    let records = [
      record(1, actor: 1), registration(2, of: 1), record(3, actor: 1), record(4, actor: nil), record(5, actor: 2),
      registration(6, of: 2, .retained([])), record(7, actor: 2),
      registration(8, of: 3, .retainedWithSalt(Self.payload, salt: [UInt8](repeating: 5, count: 16))),
      record(9, actor: 3),
    ]
    let expected: [AuthorKey] = [
      .none, try known(), try known(), .none, .none, .none, .none, try known(), try known(),
    ]
    #expect(keys.unresolved(in: records).isEmpty)
    for (record, author) in zip(records, expected) {
      #expect(try keys.leaf(of: record) == record.leaf(author: author))
    }
  }

  @Test("a later record of kind 1, or one in a stream of another kind, is no registration")
  func onlyTheFirst() throws {
    var keys = CommitmentKeys()
    keys.recordRegistration(in: record(1, kind: 1, streamKind: 2, stream: 1, actor: 1, .retained([0x2a, 32] + [UInt8](0..<32))))
    keys.recordRegistration(in: record(2, kind: 2, streamKind: 1, stream: 1, actor: 1, .retained([0x2a, 32] + [UInt8](0..<32))))
    #expect(try keys.key(for: record(3, actor: 1)) == .none)
    keys.recordRegistration(in: registration(4, of: 1))
    keys.recordRegistration(in: registration(5, of: 1, .retained([0x2a, 32] + [UInt8](0..<32))))
    keys.recordRegistration(in: registration(6, of: 1, .erased(digest: Self.key)))
    #expect(try keys.key(for: record(7, actor: 1)) == known())
  }

  @Test("after an erased registration the author's records carry their own salt or nothing")
  func erasedRegistration() throws {
    var keys = CommitmentKeys()
    #expect(throws: Never.self) { try keys.leaf(of: registration(1, of: 1, .erased(digest: Self.key))) }
    #expect(throws: FormatFlaw.self) { try keys.leaf(of: record(2, actor: 1)) }
    let own = record(3, actor: 1, .retainedWithSalt([1], salt: [UInt8](repeating: 5, count: 16)))
    #expect(try keys.leaf(of: own) == own.leaf(author: .none))
    let gone = record(4, actor: 1, .erased(digest: Self.key))
    #expect(try keys.leaf(of: gone) == gone.leaf(author: .none))
  }

  @Test("starting in the middle requires looking up the named authors before hashing")
  func middle() throws {
    var keys = CommitmentKeys(from: LogPosition(100))
    let own = RecordPayload.retainedWithSalt([1], salt: [UInt8](repeating: 5, count: 16))
    let batch = [
      record(100, actor: 1), record(101, actor: 2), record(102, actor: 1), record(103, actor: nil),
      record(104, actor: 5, own), record(105, actor: 6, .erased(digest: Self.key)), registration(106, of: 3),
      record(107, actor: 3), record(108, actor: 4), registration(109, of: 4), record(110, actor: 4),
    ]
    #expect(keys.unresolved(in: batch) == [1, 2, 3, 4].map(user))
    #expect(throws: FormatFlaw.self) { try keys.leaf(of: batch[0]) }
    #expect(throws: FormatFlaw.self) { try keys.leaf(of: batch[6]) }
    keys.resolve(user(1), registration: .retained(Self.payload))
    keys.resolve(user(2), registration: nil)
    // There is an earlier registration, erased since, so the one in the batch is a second one.
    keys.resolve(user(3), registration: .erased(digest: Self.key))
    keys.resolve(user(4), registration: nil)
    #expect(keys.unresolved(in: batch).isEmpty)
    let expected: [AuthorKey?] = [
      try known(), AuthorKey.none, try known(), AuthorKey.none, AuthorKey.none, AuthorKey.none, nil, nil,
      AuthorKey.none, try known(), try known(),
    ]
    for (record, author) in zip(batch, expected) {
      if let author {
        #expect(try keys.leaf(of: record) == record.leaf(author: author))
      } else {
        #expect(throws: FormatFlaw.self) { try keys.leaf(of: record) }
      }
    }
  }
}
