package import ChatPrimitives
import Crypto

/// The 32 secret bytes in an author's registration from which the salts of the author's records are derived.
package struct CommitmentKey: Sendable, Hashable {
  /// The length of a key, in bytes.
  package static let byteCount = 32

  /// Stored in a hash, which has the same size and needs no allocation.
  private let value: MerkleHash

  /// - Returns: nil unless there are exactly 32 bytes.
  package init?(bytes: [UInt8]) {
    guard let value = MerkleHash(bytes: bytes) else { return nil }
    self.value = value
  }

  /// The salt of the record at a position: the first half of SHA-256(key, position).
  package func salt(at position: LogPosition) -> RecordSalt {
    withUnsafeTemporaryAllocation(byteCount: Self.byteCount + 8, alignment: 8) { buffer in
      value.store(to: buffer, at: 0)
      buffer.put(position.value, at: Self.byteCount)
      return MerkleTree.hash(UnsafeRawBufferPointer(buffer)).withUnsafeBytes { RecordSalt(loading: $0) }
    }
  }
}

/// The sixteen bytes that are hashed before a payload to make its digest, stored inline.
package struct RecordSalt: Sendable, Hashable {
  /// Bytes 0 to 7 and 8 to 15, in memory order.
  private let first: UInt64
  private let second: UInt64

  /// Copies the first 16 bytes of a buffer, which must have at least as many.
  init(loading bytes: UnsafeRawBufferPointer) {
    first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
    second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
  }

  /// - Returns: nil unless there are exactly 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == LogFormat.saltBytes else { return nil }
    self = bytes.withUnsafeBytes { RecordSalt(loading: $0) }
  }

  package var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Swift.withUnsafeBytes(of: (first, second), body)
  }
}

/// What is known about a record's author when its leaf is computed.
package enum AuthorKey: Sendable, Hashable {
  /// There is no actor, no registration at or before the record, or a registration without the key field.
  case none
  case key(CommitmentKey)
  /// The registration, and the key in it, was erased.
  case erased
}

extension MerkleTree {
  /// SHA-256(salt, payload).
  package static func digest(salt: RecordSalt?, payload: [UInt8]) -> MerkleHash {
    var hasher = SHA256()
    salt?.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    payload.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher.finalize().withUnsafeBytes { MerkleHash(loading: $0) }
  }
}

extension LogRecord {
  /// The salt of a retained payload; nil if the record has none or is erased.
  package func salt(author: AuthorKey) throws(FormatFlaw) -> RecordSalt? {
    switch payload {
    case .erased: return nil
    case .retainedWithSalt(_, let bytes):
      guard let salt = RecordSalt(bytes: bytes) else {
        throw FormatFlaw("the record \(position) has a salt of \(bytes.count) bytes, not \(LogFormat.saltBytes)")
      }
      return salt
    case .retained:
      switch author {
      case .none: return nil
      case .key(let key): return key.salt(at: position)
      case .erased:
        throw FormatFlaw("the record \(position) needs its own salt, because its author's registration was erased")
      }
    }
  }

  /// The digest of salt and payload. An erased record holds the digest itself.
  package func digest(author: AuthorKey) throws(FormatFlaw) -> MerkleHash {
    switch payload {
    case .erased(let bytes):
      guard let digest = MerkleHash(bytes: bytes) else {
        throw FormatFlaw("the record \(position) has a digest of \(bytes.count) bytes, not \(LogFormat.digestBytes)")
      }
      return digest
    case .retained(let bytes), .retainedWithSalt(let bytes, salt: _):
      return MerkleTree.digest(salt: try salt(author: author), payload: bytes)
    }
  }

  /// The record's leaf, which has index `position - 1` in the tree.
  package func leaf(author: AuthorKey) throws(FormatFlaw) -> MerkleHash {
    MerkleTree.leaf(envelope: envelope, digest: try digest(author: author))
  }
}
