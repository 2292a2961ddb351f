import ChatPrimitives

/// A tree head, which states the root of a log's tree at one size; C2SP, `tlog-checkpoint`.
package struct Checkpoint: Sendable, Hashable {
  /// The name of the log.
  package let origin: String
  /// The number of records that the tree covers.
  package let size: UInt64
  package let root: MerkleHash
  /// Further signed lines. None of them is empty.
  package let extensions: [String]

  init(origin: String, size: UInt64, root: MerkleHash) {
    self.origin = origin
    self.size = size
    self.root = root
    extensions = []
  }

  /// Parses the text of a note.
  package init(parsing text: [UInt8]) throws(CheckpointFlaw) {
    var lines = NoteLines(text)
    guard let origin = lines.next(), !origin.isEmpty else {
      throw CheckpointFlaw(.malformed, "the checkpoint's first line, the origin, is empty")
    }
    guard let size = lines.next().flatMap({ NoteLines.decimal($0) }), size <= LogFormat.maximumPosition.value else {
      throw CheckpointFlaw(.malformed, "the checkpoint's second line is not a tree size")
    }
    guard let root = lines.next().flatMap({ MerkleHash(base64: $0) }) else {
      throw CheckpointFlaw(.malformed, "the checkpoint's third line is not 32 bytes in Base64")
    }
    var extensions: [String] = []
    while let line = lines.next() {
      guard !line.isEmpty else { throw CheckpointFlaw(.malformed, "the checkpoint has an empty line") }
      extensions.append(line)
    }
    guard lines.isAtEnd else { throw CheckpointFlaw(.malformed, "the checkpoint does not end with a newline") }
    self.origin = origin
    self.size = size
    self.root = root
    self.extensions = extensions
  }

  /// Parses a tree head after verifying its signature by the key. An unverified note must not be trusted in any part.
  package init(verifying note: SignedNote, by key: VerifierKey) throws(CheckpointFlaw) {
    try note.verify(by: key)
    try self.init(parsing: note.text)
    guard origin.utf8.elementsEqual(key.name.utf8) else {
      throw CheckpointFlaw(.mismatch, "the checkpoint is of \(origin), the key of \(key.name)")
    }
  }

  /// The text that is signed.
  package var text: String {
    ([origin, String(size), root.base64] + extensions).map { $0 + "\n" }.joined()
  }
}
