/// What a verifier of proofs needs: only hashes, no log and no keys.
extension MerkleTree {
  /// Checks that a tree contains a leaf; RFC 9162, section 2.1.3.2.
  package static func verifyInclusion(
    of leaf: MerkleHash, index: UInt64, size: UInt64, path: [MerkleHash], root: MerkleHash
  ) throws(CheckpointFlaw) {
    guard index < size else {
      throw CheckpointFlaw(.mismatch, "the leaf \(index) is not in a tree of \(size)")
    }
    var number = index
    var last = size - 1
    var hash = leaf
    for sibling in path {
      guard last > 0 else { throw CheckpointFlaw(.mismatch, "the path has more hashes than the tree has levels") }
      if number & 1 == 1 || number == last {
        hash = node(sibling, hash)
        skipLevelsWithoutSibling(&number, &last)
      } else {
        hash = node(hash, sibling)
      }
      number >>= 1
      last >>= 1
    }
    guard last == 0 else { throw CheckpointFlaw(.mismatch, "the path ends below the root") }
    guard hash == root else { throw CheckpointFlaw(.mismatch, "the leaf and the path do not give the root") }
  }

  /// Checks that a tree extends an older one; RFC 9162, section 2.1.4.2. Trees that are equal or empty are handled as
  /// the text of that section says.
  package static func verifyConsistency(
    from old: UInt64, root oldRoot: MerkleHash, to size: UInt64, root: MerkleHash, path: [MerkleHash]
  ) throws(CheckpointFlaw) {
    guard old <= size else {
      throw CheckpointFlaw(.mismatch, "the tree of \(size) records is smaller than the older one of \(old)")
    }
    if old == 0 || old == size {
      guard path.isEmpty else { throw CheckpointFlaw(.mismatch, "the path must be empty between these sizes") }
      guard oldRoot == (old == 0 ? emptyRoot : root) else {
        throw CheckpointFlaw(.mismatch, old == 0 ? "the empty tree has another root" : "two roots for the same size")
      }
      return
    }
    // If the old tree is a full subtree, the path begins with its root, which the proof omits.
    let hashes = old & (old - 1) == 0 ? [oldRoot] + path : path
    guard let start = hashes.first else { throw CheckpointFlaw(.mismatch, "the path is empty") }
    var number = old - 1
    var last = size - 1
    while number & 1 == 1 {
      number >>= 1
      last >>= 1
    }
    var oldHash = start
    var hash = start
    for sibling in hashes.dropFirst() {
      guard last > 0 else { throw CheckpointFlaw(.mismatch, "the path has more hashes than the tree has levels") }
      if number & 1 == 1 || number == last {
        oldHash = node(sibling, oldHash)
        hash = node(sibling, hash)
        skipLevelsWithoutSibling(&number, &last)
      } else {
        hash = node(hash, sibling)
      }
      number >>= 1
      last >>= 1
    }
    guard last == 0 else { throw CheckpointFlaw(.mismatch, "the path ends below the root") }
    guard oldHash == oldRoot else { throw CheckpointFlaw(.mismatch, "the path does not give the older root") }
    guard hash == root else { throw CheckpointFlaw(.mismatch, "the path does not give the root") }
  }

  /// Skips the levels at which a node on the right edge has no left sibling.
  private static func skipLevelsWithoutSibling(_ number: inout UInt64, _ last: inout UInt64) {
    while number & 1 == 0, number != 0 {
      number >>= 1
      last >>= 1
    }
  }
}
