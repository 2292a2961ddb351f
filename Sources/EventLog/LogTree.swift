package import ChatPrimitives
import Synchronization

/// The Merkle tree over a log up to a reader's head, for tree heads and proofs. It reads the nodes that sealed segments
/// store; `init` hashes the part that is not sealed.
package final class LogTree: MerkleNodeSource {
  /// The tree at the head.
  package let frontier: MerkleFrontier

  private let reader: LogReader
  private let head: LogPosition
  /// The nodes of the stored levels in the part that is not sealed.
  private let nodes: [UnsealedNode: MerkleHash]
  /// The group that was hashed last, cached because a proof needs several nodes of one group.
  private let lastGroup = Mutex<(number: UInt64, group: MerkleGroup)?>(nil)

  private struct UnsealedNode: Hashable {
    var level: Int
    var number: UInt64
  }

  /// - Parameter progress: called with the number of records hashed so far and the total number to hash.
  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package init(
    _ reader: LogReader, progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
  ) throws(LogError) {
    self.reader = reader
    head = reader.head
    let sealed = try reader.catalog.sealedCount()
    let start = try reader.catalog.treeBefore(segment: sealed)
    var builder = MerkleTreeBuilder(from: start, in: reader.catalog)
    var authors: Set<UUIDBytes> = []
    let first = LogPosition(start.count + 1)
    try Self.forEachBlock(of: reader, from: first, through: reader.head) { block throws(LogError) in
      authors.formUnion(builder.unresolved(in: block.records))
    }
    try builder.resolve(authors)
    var nodes: [UnsealedNode: MerkleHash] = [:]
    let head = reader.head
    try Self.forEachBlock(of: reader, from: first, through: head) { block throws(LogError) in
      for record in block.records where record.position <= head {
        try builder.add(record, of: block) { nodes[UnsealedNode(level: $0.level, number: $0.number)] = $0.hash }
      }
      progress(block.last.value - start.count, head.value - start.count)
    }
    self.nodes = nodes
    frontier = builder.frontier
  }

  package func node(level: Int, number: UInt64) throws(LogError) -> MerkleHash {
    guard level < UInt64.bitWidth, number < head.value >> UInt64(level) else {
      throw LogError(.outOfRange, "The log has no node \(number) of level \(level) in its tree.")
    }
    guard level >= MerkleTree.storedLevel else {
      let group = number >> UInt64(MerkleTree.storedLevel - level)
      let within = number - group << UInt64(MerkleTree.storedLevel - level)
      // The number in the group is below the group's number of leaves.
      if let hash = try self.group(group).node(level: level, number: Int(within)) { return hash }
      throw LogError(.outOfRange, "The log has no node \(number) of level \(level) in its tree.")
    }
    if let hash = nodes[UnsealedNode(level: level, number: number)] { return hash }
    let segment = try reader.catalog.opened(LogPosition((number + 1) << UInt64(level)))
    if let hash = try segment.tree()?.node(level: level, number: number) { return hash }
    throw LogError(
      FormatFlaw("the tree lacks the node \(number) of level \(level)"), at: .init(file: segment.file.name))
  }

  // MARK: Proofs

  /// Signs the tree head.
  /// - Throws: `log_io` if signing fails.
  package func checkpoint(by key: CheckpointKey) throws(LogError) -> SignedNote {
    do {
      return try key.sign(size: frontier.count, root: frontier.root)
    } catch {
      throw LogError(.io, "The tree head was not signed.", cause: error.reason)
    }
  }

  /// Proves that a record is at its position.
  /// - Parameter showsPayload: whether the proof may show the record's payload, decided by its envelope. The payload of
  ///   a registration is never shown.
  /// - Throws: `log_out_of_range` for a position that the log does not hold; the errors of
  ///   `BlockSource.block(containing:)`.
  package func inclusion(
    of position: LogPosition, by key: CheckpointKey, showsPayload: (RecordEnvelope) -> Bool = { _ in true }
  ) throws(LogError) -> InclusionProof {
    guard position >= .first, position <= head else {
      throw LogError(
        .outOfRange, "The log has positions 1 to \(head).", location: .init(file: "log", position: position))
    }
    let path = try inclusionPath(index: position.value - 1, size: head.value)
    return InclusionProof(
      record: try record(position, showsPayload), position: position, path: path, checkpoint: try checkpoint(by: key))
  }

  /// Proves that the log at an older tree head is a prefix of the current log.
  /// - Throws: `log_out_of_range` for a tree head beyond the log; the errors of `BlockSource.block(containing:)`.
  package func consistency(since size: UInt64, by key: CheckpointKey) throws(LogError) -> ConsistencyProof {
    ConsistencyProof(
      old: size, path: try consistencyPath(from: size, to: head.value), checkpoint: try checkpoint(by: key))
  }

  private func record(
    _ position: LogPosition, _ showsPayload: (RecordEnvelope) -> Bool
  ) throws(LogError) -> ProvenRecord {
    let block = try reader.block(containing: position)
    guard let record = block.records.first(where: { $0.position == position }) else {
      throw LogError(
        FormatFlaw("the block lacks the position"), at: .init(file: block.segment, offset: block.offset))
    }
    var hasher = LeafHasher(from: position, in: reader.catalog)
    try hasher.resolve(Set(hasher.unresolved(in: [record])))
    _ = try hasher.leaf(of: record, in: block)
    return try hasher.proven(record, in: block, showsPayload: showsPayload(record.envelope))
  }

  /// Returns a group whose leaves are not stored. Hashes them again unless the group is cached.
  private func group(_ number: UInt64) throws(LogError) -> MerkleGroup {
    if let last = lastGroup.withLock({ $0 }), last.number == number { return last.group }
    let group = try hashedGroup(number)
    lastGroup.withLock { $0 = (number, group) }
    return group
  }

  private func hashedGroup(_ number: UInt64) throws(LogError) -> MerkleGroup {
    let first = LogPosition(number << UInt64(MerkleTree.storedLevel) + 1)
    let last = min(LogPosition(first.value - 1 + UInt64(MerkleTree.groupLeaves)), head)
    var hasher = LeafHasher(from: first, in: reader.catalog)
    var authors: Set<UUIDBytes> = []
    try Self.forEachBlock(of: reader, from: first, through: last) { block throws(LogError) in
      authors.formUnion(hasher.unresolved(in: block.records.filter { $0.position >= first && $0.position <= last }))
    }
    try hasher.resolve(authors)
    var leaves: [MerkleHash] = []
    try Self.forEachBlock(of: reader, from: first, through: last) { block throws(LogError) in
      for record in block.records where record.position >= first && record.position <= last {
        leaves.append(try hasher.leaf(of: record, in: block))
      }
    }
    return MerkleGroup(leaves: leaves)
  }

  private static func forEachBlock(
    of reader: LogReader, from first: LogPosition, through last: LogPosition,
    _ body: (Block) throws(LogError) -> Void
  ) throws(LogError) {
    var position = first
    while position <= last {
      let block = try reader.block(containing: position)
      try body(block)
      position = block.last.next
    }
  }
}
