import ChatPrimitives
import Testing

@testable import EventLog

@Suite("Leaves of records")
struct MerkleSaltTests {
  private static let author = UUIDBytes(high: 0xc1c2_c3c4_c5c6_c7c8, low: 0xc9ca_cbcc_cdce_cfd0)
  private static let keyBytes = [UInt8](0x40..<0x60)
  private static let ownSalt = [UInt8](0x10..<0x20)

  /// Made by a program in Python that follows docs/log-format.md.
  private static let envelope = RecordEnvelope(
    kind: 8, payloadVersion: 1, streamKind: 2,
    stream: UUIDBytes(high: 0xa1a2_a3a4_a5a6_a7a8, low: 0xa9aa_abac_adae_afb0), streamVersion: StreamVersion(7),
    time: Sample.time, actor: author)

  private func record(_ payload: RecordPayload) -> LogRecord {
    LogRecord(position: LogPosition(70_000), envelope: Self.envelope, payload: payload)
  }

  @Test("each form of a record, with and without a key, has the leaf that the format page gives it")
  func goldenLeaves() throws {
    let key = try #require(CommitmentKey(bytes: Self.keyBytes))
    let hello = RecordPayload.retained(Array("Hello".utf8))
    let own = RecordPayload.retainedWithSalt(Array("Hello".utf8), salt: Self.ownSalt)
    let erased = RecordPayload.erased(digest: [UInt8](repeating: 0xdd, count: 32))

    #expect(
      try record(hello).salt(author: .key(key))?.bytes == Hexadecimal.bytes("42a2017ba75e5979ede888662fff7c4e"))
    #expect(
      try record(hello).digest(author: .key(key)).hex
        == "ec6646c95b18dcc0907c2bc9fe1efa4407780943526a980fce66558d7c603679")
    #expect(
      try record(hello).leaf(author: .key(key)).hex
        == "43904bd62edcd2079688ac624429c892f1c5b64fae2f3c8535edcabe67c15c1b")
    #expect(
      try record(hello).leaf(author: .none).hex == "6993e82e93838e1fcdb1471cff059e547eff82057011c5ade8960f28269e3743")
    for known in [AuthorKey.none, .key(key), .erased] {
      #expect(
        try record(own).leaf(author: known).hex == "a99f59b5c617c269d2bf5dd6307e28bb505c45e867098b20fcaaedc33e71012f")
      #expect(
        try record(erased).leaf(author: known).hex
          == "b0db3c505070ee56db9aff2b44f2ccc10d15936b3b7b3afeb6beedad3f0dd34e")
    }
    #expect(try record(hello).salt(author: .none) == nil && record(erased).salt(author: .key(key)) == nil)
    #expect(try record(own).salt(author: .erased)?.bytes == Self.ownSalt)
    #expect(throws: FormatFlaw.self) { try record(hello).leaf(author: .erased) }
  }

  @Test("erasing a payload and giving a record its own salt leave the leaf as it is")
  func erasureKeepsLeaf() throws {
    let key = AuthorKey.key(try #require(CommitmentKey(bytes: Self.keyBytes)))
    let before = record(.retained(Array("Hello".utf8)))
    let digest = try before.digest(author: key)
    let salt = try #require(try before.salt(author: key))
    #expect(try record(.erased(digest: digest.bytes)).leaf(author: .erased) == before.leaf(author: key))
    #expect(
      try record(.retainedWithSalt(Array("Hello".utf8), salt: salt.bytes)).leaf(author: .erased)
        == before.leaf(author: key))
  }

  @Test("salts and digests of another length than theirs are refused")
  func wrongLengths() {
    for count in [0, 15, 17] {
      let salted = record(.retainedWithSalt([], salt: [UInt8](repeating: 0, count: count)))
      #expect(throws: FormatFlaw.self) { try salted.leaf(author: .none) }
    }
    for count in [31, 33] {
      #expect(throws: FormatFlaw.self) {
        try record(.erased(digest: [UInt8](repeating: 0, count: count))).leaf(author: .none)
      }
      #expect(CommitmentKey(bytes: [UInt8](repeating: 0, count: count)) == nil)
    }
  }

  // MARK: The key in a registration

  @Test("the key is found in a registration, wherever its field stands")
  func keyField() throws {
    let key = try #require(CommitmentKey(bytes: Self.keyBytes))
    let field = [0x2a, 32] + Self.keyBytes
    let name: [UInt8] = [0x0a, 3] + Array("ann".utf8)
    let rest: [UInt8] = [0x30, 0xff, 0x01, 0x39, 1, 2, 3, 4, 5, 6, 7, 8, 0x45, 1, 2, 3, 4, 0x82, 0x7d, 0]
    for payload in [field, name + field, field + rest, rest + name + field, name + [0x28, 7] + field] {
      #expect(CommitmentKeyField.read(from: payload) == key)
    }
    let other = [0x2a, 32] + [UInt8](repeating: 9, count: 32)
    #expect(CommitmentKeyField.read(from: other + field) == key)
    let absent: [[UInt8]] = [
      [], name, [0x2a, 0], [0x2a, 31] + Self.keyBytes.dropLast(), [0x2a, 33, 0] + Self.keyBytes, [0x28, 32],
      field + [0x2a, 0],
    ]
    for payload in absent { #expect(CommitmentKeyField.read(from: payload) == nil) }
  }

  @Test("a payload that is no message has no key", arguments: 0..<9)
  func notAMessage(_ number: Int) {
    let field = [0x2a, 32] + Self.keyBytes
    let tails: [[UInt8]] = [
      [0], [0x0a], [0x0a, 1], [0x0b], [0x0e], [0x39, 1], [0x45, 1, 2, 3], [0x80],
      [0x08] + [UInt8](repeating: 0xff, count: 9) + [2],
    ]
    #expect(CommitmentKeyField.read(from: field + tails[number]) == nil)
    #expect(CommitmentKeyField.read(from: field) != nil)
    for cut in 1..<field.count { #expect(CommitmentKeyField.read(from: Array(field[..<cut])) == nil) }
    let huge: [UInt8] = [0x2a] + [UInt8](repeating: 0xff, count: 9) + [1]
    #expect(CommitmentKeyField.read(from: huge) == nil)
  }
}
