import ChatPrimitives

/// A full subtree. Node `number` of level `level` covers `1 << level` leaves, beginning with leaf `number << level`.
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

/// The right edge of a growing tree: the state that is needed to add leaves and to compute the root.
package struct MerkleFrontier: Sendable, Hashable {
  /// The number of leaves in the tree.
  package private(set) var count: UInt64
  /// The roots of the full subtrees, one for each bit set in `count`, from the largest (leftmost) to the smallest.
  package private(set) var peaks: [MerkleHash]

  /// An empty tree.
  package init() {
    count = 0
    peaks = []
  }

  /// A tree from its peaks.
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

  /// Adds a leaf at the right end.
  package mutating func append(_ leaf: MerkleHash) {
    append(leaf) { _ in }
  }

  /// Adds a leaf at the right end.
  /// - Parameter completed: called for each node of the stored level and above that this leaf completes, from the
  ///   lowest up.
  package mutating func append(_ leaf: MerkleHash, completed: (MerkleNode) -> Void) {
    var hash = leaf
    var level = 0
    var number = count
    // The new subtree becomes the right sibling of one peak for each of the lowest set bits.
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
