import ChatPrimitives
import Testing

@testable import EventLog

@Suite("Proofs as text")
struct MerkleProofTextTests {
  private static let key = [UInt8](0x40..<0x60)

  /// Records with every form of payload: a registration, then records of its author, then records without an author.
  private func records(_ count: UInt64) -> [LogRecord] {
    let user = UUIDBytes(high: 7, low: 1)
    var first = LogRecord(
      position: .first, envelope: Sample.envelope(1, presence: 0), payload: .retained([0x2a, 32] + Self.key))
    first.envelope.kind = 1
    first.envelope.streamKind = 1
    first.envelope.stream = user
    first.envelope.actor = user
    return [first]
      + (2...count).map { number in
        var record = GoldenFileTests.record(number)
        record.envelope.actor = number % 2 == 0 ? user : nil
        return record
      }
  }

  private func proofs(_ count: UInt64) throws -> (proofs: [InclusionProof], leaves: [MerkleHash]) {
    var keys = CommitmentKeys()
    let records = records(count)
    let leaves = try records.map { try keys.leaf(of: $0) }
    let note = try SignedSample.note(leaves: leaves)
    let proofs = try records.map { record in
      InclusionProof(
        record: try ProvenRecord(record, author: keys.key(for: record), showsPayload: true), position: record.position,
        path: try ModelNodes(leaves).inclusionPath(index: record.position.value - 1, size: count), checkpoint: note)
    }
    return (proofs, leaves)
  }

  @Test("a proof of each record reads back, holds, and shows no key of a record that is not the registration")
  func inclusion() throws {
    let verifier = try SignedSample.key().verifier
    let (proofs, _) = try proofs(21)
    for proof in proofs {
      let bytes = proof.encoded()
      let read = try InclusionProof(parsing: bytes)
      #expect(read == proof && read.encoded() == bytes)
      #expect(try read.verify(by: verifier).size == 21)
      guard proof.position > .first else { continue }
      #expect(!read.record.json.contains(Hexadecimal.text(Self.key)))
    }
    #expect(proofs[2].record.opening == nil && !proofs[2].record.json.contains("payload"))
    #expect(proofs[6].record.opening?.salt == nil && proofs[6].record.json.contains("\"salt\":\"\""))
    #expect(proofs[4].record.opening?.salt?.bytes == Sample.payload(5, count: 16))
  }

  @Test("every change of a byte in a proof is refused", arguments: [2, 3, 5, 8])
  func alterations(_ index: Int) throws {
    let verifier = try SignedSample.key().verifier
    let proof = try proofs(9).proofs[index]
    SignedSample.alterations(of: proof.encoded()) { bytes, place in
      if checkpointFlaw({ try InclusionProof(parsing: bytes).verify(by: verifier) }) == nil {
        Issue.record("the change at \(place) was not noticed")
      }
    }
    let bytes = proof.encoded()
    for count in bytes.indices {
      #expect(checkpointFlaw { _ = try InclusionProof(parsing: Array(bytes[..<count])) }?.kind == .malformed)
    }
  }

  @Test("a proof whose record, payload, salt, place or tree is another does not hold")
  func mismatches() throws {
    let verifier = try SignedSample.key().verifier
    let (proofs, leaves) = try proofs(9)
    let proof = proofs[1]
    func kind(_ record: ProvenRecord, _ position: LogPosition, _ note: SignedNote) -> CheckpointFlaw.Kind? {
      let other = InclusionProof(record: record, position: position, path: proof.path, checkpoint: note)
      return checkpointFlaw { try other.verify(by: verifier) }?.kind
    }
    #expect(kind(proof.record, proof.position, proof.checkpoint) == nil)
    #expect(kind(proofs[3].record, proof.position, proof.checkpoint) == .mismatch)
    #expect(kind(proof.record, LogPosition(4), proof.checkpoint) == .mismatch)
    #expect(kind(proof.record, .origin, proof.checkpoint) == .mismatch)
    #expect(kind(proof.record, proof.position, try SignedSample.note(leaves: Array(leaves[..<8]))) == .mismatch)
    let json = proof.record.json
    for (text, other) in [("message 2", "message 3"), ("payload", "payloae")] {
      let changed = json.replacing(Hexadecimal.text(Array(text.utf8)), with: Hexadecimal.text(Array(other.utf8)))
        .replacing(text, with: other)
      #expect(changed != json)
      let flaw = checkpointFlaw {
        let record = try ProvenRecord(json: Array(changed.utf8))
        try InclusionProof(
          record: record, position: proof.position, path: proof.path, checkpoint: proof.checkpoint
        ).verify(by: verifier)
      }
      #expect(flaw != nil)
    }
  }

  @Test("what a leaf is made of has two fields or four, in lower case")
  func jsonForms() throws {
    let (proofs, _) = try proofs(3)
    let whole = proofs[1].record.json
    let erased = proofs[2].record.json
    #expect(throws: Never.self) { try ProvenRecord(json: Array(whole.utf8)) }
    #expect(try ProvenRecord(json: Array((erased.dropLast() + ",\"note\":[1]}").utf8)) == proofs[2].record)
    let salt = Hexadecimal.text(proofs[1].record.opening?.salt?.bytes ?? [])
    let wrong = [
      "", "{}", "[]", "{\"envelope\":1}", erased.replacing("digest", with: "digesu"), whole.uppercased(),
      whole.replacing(",\"salt\":\"\(salt)\"", with: ""), whole.replacing(salt, with: salt.dropLast(2)),
      whole.replacing(salt, with: salt + "00"), erased + "x",
      String(repeating: "[", count: 5_000), whole.replacing(salt, with: salt.uppercased()),
    ]
    for text in wrong {
      #expect(checkpointFlaw { _ = try ProvenRecord(json: Array(text.utf8)) }?.kind == .malformed, "\(text)")
    }
  }

  @Test("the longest payload has a proof, and nothing longer than the limit is read")
  func limits() throws {
    var record = LogRecord(
      position: .first, envelope: Sample.envelope(1, presence: 0b11_1111),
      payload: .retained([UInt8](repeating: 7, count: LogFormat.maximumPayloadBytes)))
    record.envelope.actor = nil
    let leaf = try record.leaf(author: .none)
    let proof = InclusionProof(
      record: try ProvenRecord(record, author: .none, showsPayload: true), position: .first, path: [],
      checkpoint: try SignedSample.note(leaves: [leaf]))
    let bytes = proof.encoded()
    #expect(bytes.count <= InclusionProof.maximumBytes - SignedNote.maximumBytes - 63 * 45)
    #expect(throws: Never.self) { try InclusionProof(parsing: bytes).verify(by: SignedSample.key().verifier) }
    let long = [UInt8](repeating: 65, count: InclusionProof.maximumBytes + 1)
    #expect(checkpointFlaw { _ = try InclusionProof(parsing: long) }?.reason.contains("more than") == true)
  }

  @Test("a consistency proof reads back and holds between its two trees only")
  func consistency() throws {
    let verifier = try SignedSample.key().verifier
    let leaves = MerkleModel.leaves(21)
    let older = try SignedSample.note(leaves: Array(leaves[..<13]))
    let newer = try SignedSample.note(leaves: leaves)
    let proof = ConsistencyProof(
      old: 13, path: try ModelNodes(leaves).consistencyPath(from: 13, to: 21), checkpoint: newer)
    let bytes = proof.encoded()
    #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("old 13\n"))
    #expect(try ConsistencyProof(parsing: bytes) == proof)
    #expect(try proof.verify(since: older, by: verifier).size == 21)
    SignedSample.alterations(of: bytes) { bytes, place in
      if checkpointFlaw({ try ConsistencyProof(parsing: bytes).verify(since: older, by: verifier) }) == nil {
        Issue.record("the change at \(place) was not noticed")
      }
    }
    for count in [12, 14] {
      let other = try SignedSample.note(leaves: Array(leaves[..<count]))
      #expect(checkpointFlaw { try proof.verify(since: other, by: verifier) }?.kind == .mismatch)
    }
    var forked = Array(leaves[..<13])
    forked[4] = forked[4].flipped
    let fork = try SignedSample.note(leaves: forked)
    #expect(checkpointFlaw { try proof.verify(since: fork, by: verifier) }?.kind == .mismatch)
    for count in [63, 64] {
      let path = [MerkleHash](repeating: leaves[0], count: count)
      let text = ConsistencyProof(old: 1, path: path, checkpoint: newer).encoded()
      #expect((checkpointFlaw { _ = try ConsistencyProof(parsing: text) } == nil) == (count == 63))
    }
    let long = bytes + [UInt8](repeating: 65, count: ConsistencyProof.maximumBytes)
    #expect(checkpointFlaw { _ = try ConsistencyProof(parsing: long) }?.reason.contains("more than") == true)
  }
}
