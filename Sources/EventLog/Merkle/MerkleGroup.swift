/// Up to 256 leaves, beginning at a multiple of 256, and the nodes over them. Segments do not store this part of the
/// tree.
package struct MerkleGroup: Sendable {
  /// The full nodes of each level, from the leaves up.
  private let levels: [[MerkleHash]]

  /// - Parameter leaves: at most `MerkleTree.groupLeaves` leaves; further ones are ignored.
  package init(leaves: [MerkleHash]) {
    var levels = [Array(leaves.prefix(MerkleTree.groupLeaves))]
    var below = levels[0]
    while below.count > 1 {
      let level = (0..<below.count / 2).map { MerkleTree.node(below[$0 * 2], below[$0 * 2 + 1]) }
      levels.append(level)
      below = level
    }
    self.levels = levels
  }

  /// A full node by its level and its number in the group.
  /// - Returns: nil if the group does not have all leaves of the node.
  package func node(level: Int, number: Int) -> MerkleHash? {
    guard levels.indices.contains(level), levels[level].indices.contains(number) else { return nil }
    return levels[level][number]
  }
}
