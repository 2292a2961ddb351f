import ChatPrimitives

/// The part of the tree that a sealed segment stores: the peaks at its end, then the nodes of the stored levels that
/// end in it. See `docs/log-format.md`, "Sections of a sealed segment".
struct StoredTree {
  private let first: UInt64
  private let last: UInt64
  private let section: [UInt8]

  /// - Parameters:
  ///   - first: the segment's first position.
  ///   - last: the segment's last position.
  init(_ section: [UInt8], first: UInt64, last: UInt64) throws(FormatFlaw) {
    guard section.count == Self.byteCount(first: first, last: last) else {
      throw FormatFlaw("the tree of the segment has \(section.count) bytes")
    }
    self.section = section
    self.first = first
    self.last = last
  }

  /// Encodes the section.
  /// - Parameter completed: the nodes that end in the segment, by level, each level from left to right.
  static func encode(end: MerkleFrontier, completed: [[MerkleHash]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for hash in end.peaks + completed.joined() { bytes.append(contentsOf: hash.bytes) }
    return bytes
  }

  /// The right edge of the tree after the segment's last record.
  func end() throws(FormatFlaw) -> MerkleFrontier {
    try MerkleFrontier(count: last, peaks: (0..<last.nonzeroBitCount).compactMap(hash))
  }

  /// Returns a node; nil if it does not end in the segment or if its level is not stored.
  func node(level: Int, number: UInt64) -> MerkleHash? {
    guard level >= MerkleTree.storedLevel, level < UInt64.bitWidth else { return nil }
    let range = Self.nodes(level: level, first: first, last: last)
    guard range.contains(number) else { return nil }
    var index = last.nonzeroBitCount
    for lower in MerkleTree.storedLevel..<level { index += Self.nodes(level: lower, first: first, last: last).count }
    // The number is within the range, whose count is an Int.
    return hash(index + Int(number - range.lowerBound))
  }

  private func hash(_ index: Int) -> MerkleHash? {
    section.span.bytes.array(at: index * MerkleHash.byteCount, count: MerkleHash.byteCount).flatMap(
      MerkleHash.init(bytes:))
  }

  /// The length of the section, in bytes.
  static func byteCount(first: UInt64, last: UInt64) -> Int {
    var count = last.nonzeroBitCount
    var level = MerkleTree.storedLevel
    while case let range = nodes(level: level, first: first, last: last), !range.isEmpty {
      count += range.count
      level += 1
    }
    return count * MerkleHash.byteCount
  }

  /// The numbers of the nodes of a level that end in the segment. If a level has none, no higher level has any.
  private static func nodes(level: Int, first: UInt64, last: UInt64) -> Range<UInt64> {
    (first - 1) >> UInt64(level)..<last >> UInt64(level)
  }
}
