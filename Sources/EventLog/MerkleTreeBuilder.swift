import ChatPrimitives

/// Builds the tree over a part of the log, in order, from a place where it is known.
struct MerkleTreeBuilder {
  private(set) var frontier: MerkleFrontier
  private var hasher: LeafHasher

  /// - Parameter start: the tree over all records before the part.
  init(from start: MerkleFrontier, in catalog: SegmentCatalog) {
    frontier = start
    hasher = LeafHasher(from: LogPosition(start.count + 1), in: catalog)
  }

  /// The authors of records whose registration has to be looked up before these records are added.
  func unresolved(in records: [LogRecord]) -> [UUIDBytes] {
    hasher.unresolved(in: records)
  }

  /// Looks authors up in what lies before the part.
  /// - Parameter newcomers: those of them of whom nothing lies before.
  mutating func resolve(_ authors: Set<UUIDBytes>, newcomers: Set<UUIDBytes> = []) throws(LogError) {
    try hasher.resolve(authors, newcomers: newcomers)
  }

  /// Adds the records of the next block.
  /// - Parameter completed: gets each node of the stored levels that they complete.
  mutating func add(_ block: Block, completed: (MerkleNode) -> Void) throws(LogError) {
    for record in block.records { try add(record, of: block, completed: completed) }
  }

  /// Adds the next record.
  mutating func add(_ record: LogRecord, of block: Block, completed: (MerkleNode) -> Void) throws(LogError) {
    frontier.append(try hasher.leaf(of: record, in: block), completed: completed)
  }
}
