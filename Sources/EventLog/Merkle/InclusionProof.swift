package import ChatPrimitives

/// Proof that a record is in the log at its position: C2SP, `tlog-proof`. It contains everything that is needed to
/// check it, except the verifier key.
package struct InclusionProof: Sendable, Hashable {
  /// The maximum size of a proof, in bytes: enough for the longest payload in hexadecimal digits, encoded again in
  /// Base64, and the rest of the proof. A larger one is rejected.
  package static let maximumBytes = 4 * 1024 * 1024

  package let record: ProvenRecord
  package let position: LogPosition
  /// The inclusion path; RFC 6962, section 2.1.1.
  package let path: [MerkleHash]
  package let checkpoint: SignedNote

  private static let magic = "c2sp.org/tlog-proof@v1"

  package init(record: ProvenRecord, position: LogPosition, path: [MerkleHash], checkpoint: SignedNote) {
    self.record = record
    self.position = position
    self.path = path
    self.checkpoint = checkpoint
  }

  package init(parsing bytes: [UInt8]) throws(CheckpointFlaw) {
    guard bytes.count <= Self.maximumBytes else {
      throw CheckpointFlaw(.malformed, "the proof has \(bytes.count) bytes, more than \(Self.maximumBytes)")
    }
    var lines = NoteLines(bytes)
    guard let magic = lines.next(), magic.utf8.elementsEqual(Self.magic.utf8) else {
      throw CheckpointFlaw(.malformed, "the proof does not begin with \(Self.magic)")
    }
    guard
      let extra = lines.next().flatMap({ NoteLines.value(of: "extra", in: $0) }).flatMap({ StrictBase64.decode($0) })
    else { throw CheckpointFlaw(.malformed, "the proof's second line is not \"extra\" and Base64") }
    guard let index = lines.next().flatMap({ NoteLines.value(of: "index", in: $0) }).flatMap({ NoteLines.decimal($0) }),
      index < LogFormat.maximumPosition.value
    else { throw CheckpointFlaw(.malformed, "the proof's third line is not \"index\" and a leaf's index") }
    self.init(
      record: try ProvenRecord(json: extra), position: LogPosition(index + 1), path: try lines.path(),
      checkpoint: try SignedNote(parsing: lines.rest))
  }

  package func encoded() -> [UInt8] {
    let extra = StrictBase64.encode(Array(record.json.utf8))
    let hashes = path.map { $0.base64 + "\n" }.joined()
    return Array("\(Self.magic)\nextra \(extra)\nindex \(index)\n\(hashes)\n".utf8) + checkpoint.encoded()
  }

  /// The leaf's index. Position 0, which no record has, wraps to the highest number, which is a leaf of no tree.
  private var index: UInt64 { position.value &- 1 }

  /// Checks that the record, with its payload if the proof has one, is in the tree of the checkpoint.
  /// - Returns: the checkpoint.
  @discardableResult
  package func verify(by key: VerifierKey) throws(CheckpointFlaw) -> Checkpoint {
    let head = try Checkpoint(verifying: checkpoint, by: key)
    try record.verifyOpening()
    try MerkleTree.verifyInclusion(of: record.leaf, index: index, size: head.size, path: path, root: head.root)
    return head
  }
}
