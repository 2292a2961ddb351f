import ChatPrimitives

/// A tree head: what a log says of itself at one size; C2SP, `tlog-checkpoint`.
package struct Checkpoint: Sendable, Hashable {
  /// Which log.
  package let origin: String
  /// How many records the tree covers.
  package let size: UInt64
  package let root: MerkleHash
  /// Further signed lines; never empty ones.
  package let extensions: [String]

  init(origin: String, size: UInt64, root: MerkleHash) {
    self.origin = origin
    self.size = size
    self.root = root
    extensions = []
  }

  /// Reads the text of a note.
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

  /// Reads a tree head that a key has signed. Nothing of a note means anything before this.
  package init(verifying note: SignedNote, by key: VerifierKey) throws(CheckpointFlaw) {
    try note.verify(by: key)
    try self.init(parsing: note.text)
    guard origin.utf8.elementsEqual(key.name.utf8) else {
      throw CheckpointFlaw(.mismatch, "the checkpoint is of \(origin), the key of \(key.name)")
    }
  }

  /// What is signed.
  package var text: String {
    ([origin, String(size), root.base64] + extensions).map { $0 + "\n" }.joined()
  }
}
