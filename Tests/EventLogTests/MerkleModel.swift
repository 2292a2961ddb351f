import ChatPrimitives
import Synchronization

@testable import EventLog

/// The definitions of RFC 6962, section 2.1, applied literally to a list of leaves: slow but simple.
enum MerkleModel {
  static func root(_ leaves: ArraySlice<MerkleHash>) -> MerkleHash {
    guard let first = leaves.first else { return MerkleTree.emptyRoot }
    if leaves.count == 1 { return first }
    let half = split(leaves)
    return MerkleTree.node(root(leaves.prefix(half)), root(leaves.dropFirst(half)))
  }

  static func root(_ leaves: [MerkleHash]) -> MerkleHash { root(leaves[...]) }

  /// PATH(m, D[n]) of RFC 6962.
  static func path(_ index: Int, _ leaves: ArraySlice<MerkleHash>) -> [MerkleHash] {
    if leaves.count == 1 { return [] }
    let half = split(leaves)
    return index < half
      ? path(index, leaves.prefix(half)) + [root(leaves.dropFirst(half))]
      : path(index - half, leaves.dropFirst(half)) + [root(leaves.prefix(half))]
  }

  /// PROOF(m, D[n]) of RFC 6962.
  static func proof(_ old: Int, _ leaves: ArraySlice<MerkleHash>) -> [MerkleHash] { subproof(old, leaves, true) }

  private static func subproof(_ old: Int, _ leaves: ArraySlice<MerkleHash>, _ isWhole: Bool) -> [MerkleHash] {
    if old == leaves.count { return isWhole ? [] : [root(leaves)] }
    let half = split(leaves)
    return old <= half
      ? subproof(old, leaves.prefix(half), isWhole) + [root(leaves.dropFirst(half))]
      : subproof(old - half, leaves.dropFirst(half), false) + [root(leaves.prefix(half))]
  }

  private static func split(_ leaves: ArraySlice<MerkleHash>) -> Int {
    var half = 1
    while half * 2 < leaves.count { half *= 2 }
    return half
  }

  static func leaves(_ count: Int) -> [MerkleHash] {
    (0..<count).map { MerkleTree.leaf(content: Array("leaf \($0)".utf8)) }
  }
}

/// Computes nodes from all leaves, and counts the nodes that were requested.
final class ModelNodes: MerkleNodeSource {
  private let leaves: [MerkleHash]
  private(set) var asked = 0

  init(_ leaves: [MerkleHash]) {
    self.leaves = leaves
  }

  func node(level: Int, number: UInt64) throws(LogError) -> MerkleHash {
    asked += 1
    let first = Int(number) << level
    guard first + 1 << level <= leaves.count else { throw LogError(.outOfRange, "no node \(number) of level \(level)") }
    return MerkleModel.root(leaves[first..<first + 1 << level])
  }
}

func checkpointFlaw(_ body: () throws -> Void) -> CheckpointFlaw? {
  do {
    try body()
    return nil
  } catch {
    return error as? CheckpointFlaw
  }
}
