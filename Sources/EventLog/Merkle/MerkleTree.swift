import Crypto

/// The hashes of an RFC 6962 tree over all records; `docs/log-format.md`, "The tree". These functions allocate nothing
/// except the state that the cryptographic library keeps for each hash.
package enum MerkleTree {
  /// The lowest level whose nodes are stored: one node for 256 records. Lower nodes are computed again from the
  /// records.
  package static let storedLevel = 8
  /// The number of leaves below one node of the stored level.
  package static let groupLeaves = 1 << storedLevel
  /// The number of hashes in the longest path; C2SP, `tlog-witness`.
  package static let maximumPathHashes = 63

  /// The root of the tree without leaves: the SHA-256 of an empty input.
  package static let emptyRoot = hash(UnsafeRawBufferPointer(start: nil, count: 0))

  /// The byte before a leaf's content, so that a leaf can never be mistaken for a node (RFC 6962, section 2.1).
  private static let leafPrefix: UInt8 = 0
  /// The byte before the two children of a node.
  private static let nodePrefix: UInt8 = 1

  /// The leaf of a record.
  /// - Parameter digest: the digest of the record's salt and payload.
  package static func leaf(envelope: RecordEnvelope, digest: MerkleHash) -> MerkleHash {
    withUnsafeTemporaryAllocation(
      byteCount: 1 + RecordEnvelope.maximumBytes + MerkleHash.byteCount, alignment: 8
    ) { buffer in
      buffer[0] = leafPrefix
      let length = envelope.encode(into: UnsafeMutableRawBufferPointer(rebasing: buffer[1...]))
      digest.store(to: buffer, at: 1 + length)
      return hash(UnsafeRawBufferPointer(rebasing: buffer[..<(1 + length + MerkleHash.byteCount)]))
    }
  }

  /// The leaf of any content. The content for a record is its envelope and its digest.
  package static func leaf(content: [UInt8]) -> MerkleHash {
    var hasher = SHA256()
    Swift.withUnsafeBytes(of: leafPrefix) { hasher.update(bufferPointer: $0) }
    content.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher.finalize().withUnsafeBytes { MerkleHash(loading: $0) }
  }

  /// The node above two children.
  package static func node(_ left: MerkleHash, _ right: MerkleHash) -> MerkleHash {
    withUnsafeTemporaryAllocation(byteCount: 1 + 2 * MerkleHash.byteCount, alignment: 8) { buffer in
      buffer[0] = nodePrefix
      left.store(to: buffer, at: 1)
      right.store(to: buffer, at: 1 + MerkleHash.byteCount)
      return hash(UnsafeRawBufferPointer(buffer))
    }
  }

  /// The SHA-256 of the bytes.
  static func hash(_ bytes: UnsafeRawBufferPointer) -> MerkleHash {
    var hasher = SHA256()
    hasher.update(bufferPointer: bytes)
    return hasher.finalize().withUnsafeBytes { MerkleHash(loading: $0) }
  }
}
