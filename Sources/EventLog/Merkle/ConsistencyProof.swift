/// Proof that a tree is an extension of an older one, in the format of C2SP's `tlog-witness`.
package struct ConsistencyProof: Sendable, Hashable {
  /// The maximum size of a proof, in bytes. A larger one is rejected.
  package static let maximumBytes = 16 * 1024

  /// The number of records in the older tree.
  package let old: UInt64
  /// The consistency path; RFC 6962, section 2.1.2.
  package let path: [MerkleHash]
  /// The tree head of the newer tree.
  package let checkpoint: SignedNote

  package init(old: UInt64, path: [MerkleHash], checkpoint: SignedNote) {
    self.old = old
    self.path = path
    self.checkpoint = checkpoint
  }

  package init(parsing bytes: [UInt8]) throws(CheckpointFlaw) {
    guard bytes.count <= Self.maximumBytes else {
      throw CheckpointFlaw(.malformed, "the proof has \(bytes.count) bytes, more than \(Self.maximumBytes)")
    }
    var lines = NoteLines(bytes)
    guard let old = lines.next().flatMap({ NoteLines.value(of: "old", in: $0) }).flatMap({ NoteLines.decimal($0) })
    else { throw CheckpointFlaw(.malformed, "the proof's first line is not \"old\" and a tree size") }
    self.init(old: old, path: try lines.path(), checkpoint: try SignedNote(parsing: lines.rest))
  }

  package func encoded() -> [UInt8] {
    Array("old \(old)\n\(path.map { $0.base64 + "\n" }.joined())\n".utf8) + checkpoint.encoded()
  }

  /// Checks that the tree of this proof's checkpoint extends the tree of an older checkpoint.
  /// - Returns: the newer checkpoint.
  @discardableResult
  package func verify(since older: SignedNote, by key: VerifierKey) throws(CheckpointFlaw) -> Checkpoint {
    let before = try Checkpoint(verifying: older, by: key)
    let after = try Checkpoint(verifying: checkpoint, by: key)
    guard before.size == old else {
      throw CheckpointFlaw(.mismatch, "the proof begins at \(old) records, the older checkpoint at \(before.size)")
    }
    try MerkleTree.verifyConsistency(
      from: before.size, root: before.root, to: after.size, root: after.root, path: path)
    return after
  }
}
