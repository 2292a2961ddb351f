import ChatPrimitives

/// A source of the full subtrees of a tree: stored nodes, or records that are hashed again.
package protocol MerkleNodeSource {
  /// The hash of the full subtree over `1 << level` leaves, beginning with leaf `number << level`.
  func node(level: Int, number: UInt64) throws(LogError) -> MerkleHash
}

/// Each call reads at most about twice as many nodes as the tree has levels.
extension MerkleNodeSource {
  /// The root of the tree over the first `size` leaves.
  package func root(size: UInt64) throws(LogError) -> MerkleHash {
    try root(first: 0, count: check(size: size))
  }

  /// The hashes that lead from a leaf to the root, the leaf's sibling first; RFC 6962, section 2.1.1.
  package func inclusionPath(index: UInt64, size: UInt64) throws(LogError) -> [MerkleHash] {
    var count = try check(size: size)
    guard index < size else {
      throw LogError(.outOfRange, "A tree of \(size) records has no leaf \(index); use a lower number.")
    }
    var first: UInt64 = 0
    var path: [MerkleHash] = []
    while count > 1 {
      let half = Self.split(count)
      if index - first < half {
        path.append(try root(first: first + half, count: count - half))
        count = half
      } else {
        path.append(try root(first: first, count: half))
        first += half
        count -= half
      }
    }
    return path.reversed()
  }

  /// The hashes that prove that the tree of `size` leaves extends the tree of `old` leaves; RFC 6962, section 2.1.2.
  /// Empty if `old` is zero or equal to `size`.
  package func consistencyPath(from old: UInt64, to size: UInt64) throws(LogError) -> [MerkleHash] {
    var count = try check(size: size)
    guard old <= size else {
      throw LogError(
        .outOfRange, "A tree of \(size) records cannot be compared with a larger one of \(old); use a later tree head.")
    }
    guard old > 0, old < size else { return [] }
    var first: UInt64 = 0
    var path: [MerkleHash] = []
    while old - first < count {
      let half = Self.split(count)
      if old - first <= half {
        path.append(try root(first: first + half, count: count - half))
        count = half
      } else {
        path.append(try root(first: first, count: half))
        first += half
        count -= half
      }
    }
    // The verifier has the root of the old tree, but not the root of a part of it.
    if first > 0 { path.append(try root(first: first, count: count)) }
    return path.reversed()
  }

  /// The root over `count` leaves that begin at a multiple of a power of two; that power must be at least `count`.
  private func root(first: UInt64, count: UInt64) throws(LogError) -> MerkleHash {
    guard count > 0 else { return MerkleTree.emptyRoot }
    var rest = count
    var result: MerkleHash?
    // Goes from right to left, so that each peak is joined with everything to its right.
    while rest > 0 {
      let level = rest.trailingZeroBitCount
      rest &= rest - 1
      let peak = try node(level: level, number: (first + rest) >> UInt64(level))
      result = result.map { MerkleTree.node(peak, $0) } ?? peak
    }
    return result ?? MerkleTree.emptyRoot
  }

  /// The largest power of two below `count`, which is at least 2.
  private static func split(_ count: UInt64) -> UInt64 {
    1 << UInt64(UInt64.bitWidth - 1 - (count - 1).leadingZeroBitCount)
  }

  private func check(size: UInt64) throws(LogError) -> UInt64 {
    guard size <= LogFormat.maximumPosition.value else {
      throw LogError(.outOfRange, "A tree of \(size) records is larger than any log.")
    }
    return size
  }
}
