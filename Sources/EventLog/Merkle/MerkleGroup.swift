/// The part of the tree that is not stored: up to 256 leaves that begin at a multiple of 256, and the nodes over them.
package struct MerkleGroup: Sendable {
  /// Full nodes by level, from the leaves up.
  private let levels: [[MerkleHash]]

  /// - Parameter leaves: at most `MerkleTree.groupLeaves`; more are not looked at.
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

  /// A full node by its place in the group.
  /// - Returns: nil when the group's leaves do not fill it.
  package func node(level: Int, number: Int) -> MerkleHash? {
    guard levels.indices.contains(level), levels[level].indices.contains(number) else { return nil }
    return levels[level][number]
  }
}
