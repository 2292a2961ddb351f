import ChatPrimitives

/// A full subtree: node `number` of level `level` covers the leaves from `number << level` on, `1 << level` of them.
package struct MerkleNode: Sendable, Hashable {
  package var level: Int
  package var number: UInt64
  package var hash: MerkleHash

  package init(level: Int, number: UInt64, hash: MerkleHash) {
    self.level = level
    self.number = number
    self.hash = hash
  }
}

/// The right edge of a growing tree: all that is needed to add leaves and to tell the root.
package struct MerkleFrontier: Sendable, Hashable {
  /// How many leaves the tree has.
  package private(set) var count: UInt64
  /// The roots of the full subtrees, one for each bit set in `count`, the largest (leftmost) first.
  package private(set) var peaks: [MerkleHash]

  /// The tree without leaves.
  package init() {
    count = 0
    peaks = []
  }

  /// A tree known by its peaks.
  package init(count: UInt64, peaks: [MerkleHash]) throws(FormatFlaw) {
    guard count <= LogFormat.maximumPosition.value else {
      throw FormatFlaw("a tree of \(count) leaves is larger than \(LogFormat.maximumPosition)")
    }
    guard peaks.count == count.nonzeroBitCount else {
      throw FormatFlaw("a tree of \(count) leaves has \(count.nonzeroBitCount) peaks, not \(peaks.count)")
    }
    self.count = count
    self.peaks = peaks
  }

  /// Adds a leaf at the right.
  package mutating func append(_ leaf: MerkleHash) {
    append(leaf) { _ in }
  }

  /// Adds a leaf at the right.
  /// - Parameter completed: gets each node of the stored level and above that this leaf completes, the lowest first.
  package mutating func append(_ leaf: MerkleHash, completed: (MerkleNode) -> Void) {
    var hash = leaf
    var level = 0
    var number = count
    // Each set bit at the low end is a peak that the new subtree joins as the right half.
    while number & 1 == 1, let left = peaks.popLast() {
      hash = MerkleTree.node(left, hash)
      level += 1
      number >>= 1
      if level >= MerkleTree.storedLevel { completed(MerkleNode(level: level, number: number, hash: hash)) }
    }
    peaks.append(hash)
    count += 1
  }

  /// The root over all leaves so far.
  package var root: MerkleHash {
    guard var root = peaks.last else { return MerkleTree.emptyRoot }
    for peak in peaks.dropLast().reversed() { root = MerkleTree.node(peak, root) }
    return root
  }
}
