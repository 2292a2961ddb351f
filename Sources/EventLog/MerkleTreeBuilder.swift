import ChatPrimitives

/// Builds the tree over consecutive records of the log, from a position at which the tree is known.
struct MerkleTreeBuilder {
  private(set) var frontier: MerkleFrontier
  private var hasher: LeafHasher

  /// - Parameter start: the tree over all earlier records.
  init(from start: MerkleFrontier, in catalog: SegmentCatalog) {
    frontier = start
    hasher = LeafHasher(from: LogPosition(start.count + 1), in: catalog)
  }

  /// The authors whose registration has to be looked up before these records are added.
  func unresolved(in records: [LogRecord]) -> [UUIDBytes] {
    hasher.unresolved(in: records)
  }

  /// Looks up the registrations of authors in the earlier records.
  /// - Parameter newcomers: the authors who have no earlier records.
  mutating func resolve(_ authors: Set<UUIDBytes>, newcomers: Set<UUIDBytes> = []) throws(LogError) {
    try hasher.resolve(authors, newcomers: newcomers)
  }

  /// Adds the records of the next block.
  /// - Parameter completed: called for each node of the stored levels that the records complete.
  mutating func add(_ block: Block, completed: (MerkleNode) -> Void) throws(LogError) {
    for record in block.records { try add(record, of: block, completed: completed) }
  }

  /// Adds the next record.
  mutating func add(_ record: LogRecord, of block: Block, completed: (MerkleNode) -> Void) throws(LogError) {
    frontier.append(try hasher.leaf(of: record, in: block), completed: completed)
  }
}
