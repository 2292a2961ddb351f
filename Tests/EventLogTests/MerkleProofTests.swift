import ChatPrimitives
import Testing

@testable import EventLog

@Suite("Merkle proofs")
struct MerkleProofTests {
  static let largest = 70
  private let leaves = MerkleModel.leaves(MerkleProofTests.largest)

  @Test("every inclusion path is the definition's and leads to the root; another leaf, index, size or hash does not")
  func inclusion() throws {
    for size in 1...Self.largest {
      let tree = leaves[..<size]
      let root = MerkleModel.root(tree)
      for index in 0..<size {
        let nodes = ModelNodes(Array(tree))
        let path = try nodes.inclusionPath(index: UInt64(index), size: UInt64(size))
        #expect(path == MerkleModel.path(index, tree))
        #expect(nodes.asked <= 2 * (Int.bitWidth - (size - 1).leadingZeroBitCount))
        func verifies(
          _ leaf: MerkleHash? = nil, at place: Int? = nil, size other: Int? = nil, along hashes: [MerkleHash]? = nil
        ) -> Bool {
          checkpointFlaw {
            try MerkleTree.verifyInclusion(
              of: leaf ?? leaves[index], index: UInt64(place ?? index), size: UInt64(other ?? size),
              path: hashes ?? path, root: root)
          } == nil
        }
        #expect(verifies())
        #expect(!verifies(leaves[index].flipped))
        #expect(!verifies(along: path + [root]) && !verifies(along: path.dropFirst() + [root, root]))
        if !path.isEmpty { #expect(!verifies(along: path.dropLast())) }
        for place in 0..<size + 2 where place != index { #expect(!verifies(at: place)) }
        for step in path.indices {
          var changed = path
          changed[step] = MerkleTree.emptyRoot
          #expect(!verifies(along: changed))
        }
      }
    }
  }

  private func verifies(
    _ old: Int, _ oldRoot: MerkleHash, _ size: Int, _ root: MerkleHash, _ path: [MerkleHash]
  ) -> Bool {
    checkpointFlaw {
      try MerkleTree.verifyConsistency(from: UInt64(old), root: oldRoot, to: UInt64(size), root: root, path: path)
    } == nil
  }

  @Test("every consistency path is the definition's and holds; another root, size or hash does not")
  func consistency() throws {
    for size in 0...Self.largest {
      let root = MerkleModel.root(leaves[..<size])
      for old in 0...size {
        let oldRoot = MerkleModel.root(leaves[..<old])
        let nodes = ModelNodes(Array(leaves[..<size]))
        let path = try nodes.consistencyPath(from: UInt64(old), to: UInt64(size))
        #expect(path == (old == 0 ? [] : MerkleModel.proof(old, leaves[..<size])))
        #expect(nodes.asked <= 2 * Int.bitWidth - 2 * size.leadingZeroBitCount)
        #expect(verifies(old, oldRoot, size, root, path))
        #expect(!verifies(old, leaves[0].flipped, size, root, path))
        if old > 0 { #expect(!verifies(old, oldRoot, size, leaves[0].flipped, path)) }
        #expect(!verifies(old, oldRoot, size, root, path + [root]))
        if !path.isEmpty {
          #expect(!verifies(old, oldRoot, size, root, Array(path.dropLast())))
          #expect(!verifies(old, oldRoot, size, root, Array(path.dropFirst())))
          #expect(!verifies(old - 1, oldRoot, size, root, path))
        }
        if size > old { #expect(!verifies(size, root, old, oldRoot, path)) }
        for step in path.indices {
          var changed = path
          changed[step] = changed[step].flipped
          #expect(!verifies(old, oldRoot, size, root, changed))
        }
      }
    }
  }

  @Test("impossible sizes and indexes are refused")
  func outOfRange() {
    let nodes = ModelNodes(leaves)
    for index in [UInt64(5), 6, .max] {
      #expect(logError { _ = try nodes.inclusionPath(index: index, size: 5) }?.code == .outOfRange)
    }
    #expect(logError { _ = try nodes.inclusionPath(index: 0, size: 0) }?.code == .outOfRange)
    #expect(logError { _ = try nodes.consistencyPath(from: 6, to: 5) }?.code == .outOfRange)
    let limit = LogFormat.maximumPosition.value
    #expect(logError { _ = try nodes.root(size: limit + 1) }?.message.contains("larger than any log") == true)
    for size in [0, 1, UInt64.max] {
      #expect(checkpointFlaw { try verifyInclusion(index: size, size: size) }?.kind == .mismatch)
      #expect(checkpointFlaw { try verifyInclusion(index: .max, size: size) }?.kind == .mismatch)
      #expect(!verifies(Int.max, leaves[0], Int.max - 1, leaves[0], []))
    }
  }

  private func verifyInclusion(index: UInt64, size: UInt64) throws {
    try MerkleTree.verifyInclusion(of: leaves[0], index: index, size: size, path: leaves, root: leaves[0])
  }
}

extension MerkleHash {
  /// A hash that differs in one bit.
  var flipped: MerkleHash {
    var bytes = bytes
    bytes[7] ^= 0x10
    return MerkleHash(bytes: bytes) ?? self
  }
}
