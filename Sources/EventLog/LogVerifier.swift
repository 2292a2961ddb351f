package import ChatPrimitives

/// Checks everything in a log up to its last durable position: every segment header, the chain of block headers, every
/// body and every record; that positions have no gaps and recorded time never decreases; that the sections of sealed
/// segments match their records; and, with the tree, that the records are those of every tree head.
package struct LogVerifier: Sendable {
  package struct Report: Sendable, Hashable {
    package var identity: LogIdentity
    package var head: LogPosition
    package var segments: Int
    package var sealedSegments = 0
    package var blocks = 0
    package var records: UInt64 = 0
    /// The number of records whose payload was erased.
    package var erased: UInt64 = 0
    /// The size of all segment files, headers and unused ends included.
    package var bytes: UInt64 = 0
    /// The bytes after the last durable block: a write in progress, or a remnant of a crash that the next start
    /// examines.
    package var bytesBehindHead: UInt64 = 0
    /// The root of the tree at the head.
    package var root: MerkleHash
    /// Copies of the superblock whose checksum does not match. A crash can leave one; the other copy is used.
    package var damagedSuperblockCopies = 0
    /// The number of tree heads that were compared, both stored and given ones.
    package var treeHeads = 0
  }

  private let directory: String
  private let disk: any Disk
  private let checkpoints: [KeptHead]
  private let key: VerifierKey?

  /// - Parameters:
  ///   - directory: the data directory.
  ///   - checkpoints: tree heads that were kept elsewhere and whose signatures are already verified.
  ///   - key: the key that must have signed the stored tree heads; nil for the key in the data directory.
  package init(
    directory: String, disk: any Disk = PosixDisk(), checkpoints: [KeptHead] = [], key: VerifierKey? = nil
  ) {
    self.directory = directory
    self.disk = disk
    self.checkpoints = checkpoints
    self.key = key
  }

  /// - Parameter progress: called with the number of bytes checked so far and the total number.
  /// - Throws: an error for the first damage, with file, offset and position.
  package func run(progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }) throws(LogError) -> Report {
    let reader = try LogReader.open(directory: directory, disk: disk)
    try reader.checkNames()
    // The tree heads are listed first and the head is refreshed afterwards. This way, even while a server is writing,
    // the records that they cover are known to be durable.
    let stored = try reader.storedHeads()
    try reader.refresh()
    let heads = try TreeHeads(reader, stored: stored, directory: directory, disk: disk, key: key, given: checkpoints)
    var run = VerifierRun(reader, heads: heads)
    var total: UInt64 = 0
    for segment in reader.segments { total += try segment.open().size() }
    for number in reader.segments.indices {
      try run.check(segment: number) { done in progress(done, total) }
    }
    return try run.finish()
  }
}

/// A tree head that was kept elsewhere and whose signature is already verified.
package struct KeptHead: Sendable {
  package var checkpoint: Checkpoint
  /// The name for error messages, such as the name of its file.
  package var name: String

  package init(_ checkpoint: Checkpoint, name: String) {
    self.checkpoint = checkpoint
    self.name = name
  }
}

/// The tree heads that a log must agree with, by tree size.
struct TreeHeads {
  /// A tree head and its source.
  struct Head {
    var root: MerkleHash
    var source: String
  }

  private let bySize: [UInt64: [Head]]

  /// Reads the stored tree heads and checks their signatures.
  init(
    _ reader: LogReader, stored: [(name: String, bytes: [UInt8])], directory: String, disk: any Disk, key: VerifierKey?,
    given: [KeptHead]
  ) throws(LogError) {
    var bySize: [UInt64: [Head]] = [:]
    var verifier = key
    if verifier == nil, !stored.isEmpty {
      verifier = try CheckpointKey.loadVerifier(directory: directory, identity: reader.identity, disk: disk)
    }
    for (name, bytes) in stored {
      guard let verifier else {
        throw LogError(
          .missing, "The key that verifies the log's tree heads is missing; restore it, or name it with --key.",
          location: .init(file: CheckpointKey.publicFileName))
      }
      do throws(CheckpointFlaw) {
        let checkpoint = try Checkpoint(verifying: SignedNote(parsing: bytes), by: verifier)
        guard checkpoint.origin == CheckpointKey.origin(of: reader.identity),
          CheckpointName.of(size: checkpoint.size) == name
        else { throw CheckpointFlaw(.mismatch, "it belongs to another log, or its size does not match its name") }
        bySize[checkpoint.size, default: []].append(Head(root: checkpoint.root, source: name))
      } catch {
        throw LogError(FormatFlaw("the stored tree head is not valid: \(error.reason)"), at: .init(file: name))
      }
    }
    for head in given {
      let checkpoint = head.checkpoint
      guard checkpoint.origin == CheckpointKey.origin(of: reader.identity) else {
        throw LogError(
          .corrupt,
          "The tree head belongs to another log; check both the tree head and the data directory.",
          cause: "the tree head is of \(checkpoint.origin), the log is \(CheckpointKey.origin(of: reader.identity))",
          location: .init(file: head.name))
      }
      bySize[checkpoint.size, default: []].append(Head(root: checkpoint.root, source: head.name))
    }
    self.bySize = bySize
    if let largest = bySize.keys.max(), largest > reader.head.value {
      throw LogError(
        .corrupt,
        "The log was rolled back, or this is an older copy: a signed tree head covers more records than the log has.",
        cause: "the tree head covers \(largest) records, but the log ends earlier",
        location: .init(file: bySize[largest]?.first?.source ?? "log", position: reader.head))
    }
  }

  /// Checks the tree against the tree heads of its size.
  /// - Returns: the number of tree heads of this size.
  func check(_ tree: MerkleFrontier) throws(LogError) -> Int {
    guard let heads = bySize[tree.count] else { return 0 }
    let root = tree.root
    for head in heads where head.root != root {
      throw LogError(
        .corrupt, "The log was changed: its records differ from those that the tree head covers.",
        cause: "a record up to this position was changed, added or removed",
        location: .init(file: head.source, position: LogPosition(tree.count)))
    }
    return heads.count
  }

  /// The number of tree heads.
  var count: Int { bySize.values.reduce(0) { $0 + $1.count } }

  /// Whether there is a tree head of this size to check.
  func includes(size: UInt64) -> Bool { bySize[size] != nil }
}
