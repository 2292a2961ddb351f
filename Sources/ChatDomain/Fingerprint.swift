package import ChatPrimitives
import Crypto

/// What a request says, reduced to sixteen bytes: the same ID or key with the same fingerprint is a retry, with another
/// it is a clash. Made from an event's content alone, so that it can be made again from the log.
package struct Fingerprint: Hashable, Sendable {
  package let bytes: UUIDBytes

  package init(bytes: UUIDBytes) {
    self.bytes = bytes
  }

  /// The first half of a SHA-256 over the fields, each led by its length so that no two lists share an encoding.
  package init(_ fields: Field...) {
    self.init(fields)
  }

  /// The same, for a list whose length is known only when running.
  package init(_ fields: [Field]) {
    var hash = SHA256()
    for field in fields { field.feed(&hash) }
    bytes = UUIDBytes(bytes: Array(hash.finalize().prefix(UUIDBytes.byteCount))) ?? .zero
  }

  /// One part of an event's content.
  package enum Field: Sendable {
    case text(String?)
    case id(UUIDBytes?)
    case number(Int64?)
    case bytes([UInt8])

    fileprivate func feed(_ hash: inout SHA256) {
      switch self {
      case .text(let text): Self.feed(text.map { Array($0.utf8) }, &hash)
      case .id(let id): Self.feed(id?.bytes, &hash)
      case .number(let number): Self.feed(number.map { withUnsafeBytes(of: $0.littleEndian) { Array($0) } }, &hash)
      case .bytes(let bytes): Self.feed(bytes, &hash)
      }
    }

    private static func feed(_ bytes: [UInt8]?, _ hash: inout SHA256) {
      let length = Int64(bytes?.count ?? -1).littleEndian
      withUnsafeBytes(of: length) { hash.update(bufferPointer: $0) }
      if let bytes { hash.update(data: bytes) }
    }
  }
}
