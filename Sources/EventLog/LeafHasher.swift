import ChatPrimitives

/// Computes the leaves of consecutive records, from any position of the log. Registrations before that position are
/// looked up first, for many authors at once.
struct LeafHasher {
  private var keys: CommitmentKeys
  private let search: RegistrationSearch

  /// - Parameter first: the first position that will be hashed.
  init(from first: LogPosition, in catalog: SegmentCatalog) {
    keys = CommitmentKeys(from: first)
    search = RegistrationSearch(catalog: catalog, end: first)
  }

  /// The authors whose registration has to be looked up before these records are hashed.
  func unresolved(in records: [LogRecord]) -> [UUIDBytes] {
    keys.unresolved(in: records)
  }

  /// Looks up the registrations of authors before the first position.
  /// - Parameter newcomers: the authors who have no records before the first position.
  mutating func resolve(_ authors: Set<UUIDBytes>, newcomers: Set<UUIDBytes> = []) throws(LogError) {
    guard !authors.isEmpty else { return }
    let found = try search.registrations(of: authors.subtracting(newcomers))
    for author in authors { keys.resolve(author, registration: found[author]) }
  }

  /// The leaf of the next record.
  mutating func leaf(of record: LogRecord, in block: Block) throws(LogError) -> MerkleHash {
    do {
      return try keys.leaf(of: record)
    } catch {
      throw LogError(error, at: .init(file: block.segment, offset: block.offset, position: record.position))
    }
  }

  /// Returns the content of the leaf of a record that was hashed.
  func proven(_ record: LogRecord, in block: Block, showsPayload: Bool) throws(LogError) -> ProvenRecord {
    do {
      return try ProvenRecord(record, author: keys.key(for: record), showsPayload: showsPayload)
    } catch {
      throw LogError(error, at: .init(file: block.segment, offset: block.offset, position: record.position))
    }
  }
}
