import ChatPrimitives

/// The index, stream and tree sections of a sealed segment. They are built while blocks are written, and again during
/// verification.
struct SealedContents {
  /// The numbers of the UUIDs in the table.
  private let numbers: [UUIDBytes: Int]
  private(set) var index: [UInt8] = []
  private(set) var blocks = 0
  private var postings: StreamPostings
  /// The hashes of each level, beginning with the lowest stored one.
  private var nodes: [[MerkleHash]] = []

  init(numbers: [UUIDBytes: Int]) {
    self.numbers = numbers
    postings = StreamPostings(tableCount: numbers.count)
  }

  /// Adds the next block.
  /// - Throws: if the table lacks a stream, because the stream could then not be found.
  mutating func add(_ records: [LogRecord], at offset: Int) throws(FormatFlaw) {
    guard let first = records.first, let last = records.last else { return }
    withUnsafeTemporaryAllocation(byteCount: SegmentSeal.indexEntryBytes, alignment: 8) { entry in
      entry.put(first.position.value, at: 0)
      // A segment's length fits 32 bits.
      entry.put(UInt32(offset), at: 8)
      entry.put(UInt32(0), at: 12)
      entry.put(first.envelope.time.milliseconds, at: 16)
      entry.put(last.envelope.time.milliseconds, at: 24)
      index.append(contentsOf: UnsafeRawBufferPointer(entry))
    }
    // A segment has fewer blocks than bytes.
    let block = UInt32(blocks)
    for record in records {
      guard let number = numbers[record.envelope.stream] else {
        throw FormatFlaw("the stream \(record.envelope.stream.text) is missing in the table of UUIDs")
      }
      postings.note(stream: number, block: block)
    }
    blocks += 1
  }

  /// Adds a node of the tree that a record completes.
  mutating func add(_ node: MerkleNode) {
    let level = node.level - MerkleTree.storedLevel
    while nodes.count <= level { nodes.append([]) }
    nodes[level].append(node.hash)
  }

  var streams: [UInt8] { postings.encoded() }

  /// - Parameter end: the tree after the last record.
  func tree(end: MerkleFrontier) -> [UInt8] {
    StoredTree.encode(end: end, completed: nodes)
  }
}
