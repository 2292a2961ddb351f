import ChatPrimitives

/// Hashes the records of a part of the log, in order, from a place where the tree is known.
struct TreeWalk {
  private(set) var frontier: MerkleFrontier
  private var keys: CommitmentKeys
  private let search: RegistrationSearch

  /// - Parameter start: the tree over all records before the part.
  init(from start: MerkleFrontier, in catalog: SegmentCatalog) {
    frontier = start
    let first = LogPosition(start.count + 1)
    keys = CommitmentKeys(from: first)
    search = RegistrationSearch(catalog: catalog, end: first)
  }

  /// The authors of records whose registration has to be looked up before these records are added.
  func unresolved(in records: [LogRecord]) -> [UUIDBytes] {
    keys.unresolved(in: records)
  }

  /// Looks authors up in what lies before the part.
  mutating func resolve(_ authors: Set<UUIDBytes>) throws(LogError) {
    guard !authors.isEmpty else { return }
    let found = try search.registrations(of: authors)
    for author in authors { keys.resolve(author, registration: found[author]) }
  }

  /// Adds the records of the next block.
  /// - Parameter completed: gets each node of the stored levels that they complete.
  mutating func add(_ block: Block, completed: (MerkleNode) -> Void) throws(LogError) {
    for record in block.records { try add(record, of: block, completed: completed) }
  }

  /// Adds the next record.
  mutating func add(_ record: LogRecord, of block: Block, completed: (MerkleNode) -> Void) throws(LogError) {
    do {
      frontier.append(try keys.leaf(of: record), completed: completed)
    } catch {
      throw LogError(error, at: .init(file: block.segment, offset: block.offset, position: record.position))
    }
  }
}
