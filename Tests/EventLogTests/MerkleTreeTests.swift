import ChatPrimitives
import Testing

@testable import EventLog

@Suite("Merkle tree")
struct MerkleTreeTests {
  /// The entries with which certificate-transparency tests its trees, and the roots over the first of them.
  static let entries: [[UInt8]] = [
    [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43], Array(0x50...0x57), Array(0x60...0x6f),
  ]
  static let roots = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ]

  @Test("the roots over certificate-transparency's entries are the known ones")
  func knownRoots() throws {
    let leaves = Self.entries.map { MerkleTree.leaf(content: $0) }
    var frontier = MerkleFrontier()
    for size in 0...leaves.count {
      #expect(frontier.root.hex == Self.roots[size])
      #expect(MerkleModel.root(leaves[..<size]).hex == Self.roots[size])
      #expect(try ModelNodes(leaves).root(size: UInt64(size)).hex == Self.roots[size])
      if size < leaves.count { frontier.append(leaves[size]) }
    }
  }

  @Test("the growing edge has the root, the peaks and the stored nodes of the definition")
  func frontier() throws {
    let count = 1100
    let leaves = MerkleModel.leaves(count)
    var frontier = MerkleFrontier()
    var stored: [MerkleNode] = []
    let ranges: [ClosedRange<Int>] = [0...3, 254...258, 510...514, 767...769, 1022...1026, 1099...1100]
    let checked = Set(ranges.joined())
    for size in 1...count {
      frontier.append(leaves[size - 1]) { stored.append($0) }
      guard checked.contains(size) else { continue }
      #expect(frontier.count == UInt64(size))
      #expect(frontier.root == MerkleModel.root(leaves[..<size]))
      var start = 0
      var peaks: [MerkleHash] = []
      for level in stride(from: 12, through: 0, by: -1) where size & 1 << level != 0 {
        peaks.append(MerkleModel.root(leaves[start..<start + 1 << level]))
        start += 1 << level
      }
      #expect(frontier.peaks == peaks)
      #expect(try MerkleFrontier(count: UInt64(size), peaks: peaks) == frontier)
      #expect(stored.count == size / 256 + size / 512 + size / 1024)
    }
    let nodes = ModelNodes(leaves)
    for node in stored { #expect(try nodes.node(level: node.level, number: node.number) == node.hash) }
    #expect(stored.map(\.level) == [8, 8, 9, 8, 8, 9, 10] && stored.map(\.number) == [0, 1, 0, 2, 3, 1, 0])
  }

  @Test("peaks that do not fit the number of leaves are refused")
  func wrongPeaks() {
    let peaks = MerkleModel.leaves(64)
    #expect(throws: FormatFlaw.self) { try MerkleFrontier(count: 3, peaks: [peaks[0]]) }
    #expect(throws: FormatFlaw.self) { try MerkleFrontier(count: 4, peaks: Array(peaks[..<2])) }
    #expect(throws: FormatFlaw.self) { try MerkleFrontier(count: 0, peaks: [peaks[0]]) }
    let limit = LogFormat.maximumPosition.value
    #expect(throws: Never.self) { try MerkleFrontier(count: limit - 1, peaks: Array(peaks[..<62])) }
    #expect(throws: Never.self) { try MerkleFrontier(count: limit, peaks: Array(peaks[..<1])) }
    #expect(throws: FormatFlaw.self) { try MerkleFrontier(count: limit + 1, peaks: Array(peaks[..<2])) }
  }

  @Test("a group of leaves gives every full node below the stored level, and no other")
  func group() throws {
    let leaves = MerkleModel.leaves(300)
    let nodes = ModelNodes(leaves)
    for count in [0, 1, 2, 3, 7, 100, 255, 256, 300] {
      let group = MerkleGroup(leaves: Array(leaves[..<count]))
      for level in 0...9 {
        for number in 0...300 {
          let isFull = level <= 8 && (number + 1) << level <= min(count, 256)
          let expected = isFull ? try nodes.node(level: level, number: UInt64(number)) : nil
          guard group.node(level: level, number: number) != expected else { continue }
          Issue.record("node \(number) of level \(level) in a group of \(count)")
        }
      }
    }
  }

  @Test("a hash reads back from bytes, Base64 and hexadecimal digits, each in one form only")
  func hashText() {
    let hash = MerkleTree.leaf(content: [1, 2, 3])
    #expect(MerkleHash(bytes: hash.bytes) == hash)
    #expect(MerkleHash(base64: hash.base64) == hash && hash.base64.utf8.count == 44)
    #expect(MerkleHash(hex: hash.hex) == hash && hash.hex.utf8.count == 64)
    #expect(MerkleHash(bytes: Array(hash.bytes.dropLast())) == nil)
    #expect(MerkleHash(hex: hash.hex.uppercased()) == nil)
    #expect(MerkleHash(hex: String(hash.hex.dropLast())) == nil)
    for text in ["", "AAAA", hash.base64 + "\n", " " + hash.base64, String(hash.base64.dropLast())] {
      #expect(MerkleHash(base64: text) == nil)
    }
    // The two bits that belong to no byte must be zero.
    let zeros = String(repeating: "A", count: 43) + "="
    #expect(MerkleHash(base64: zeros) != nil)
    #expect(MerkleHash(base64: String(repeating: "A", count: 42) + "B=") == nil)
  }
}
