package import ChatPrimitives
import Crypto

/// The content of a request, reduced to sixteen bytes. A request with the same ID or key and the same fingerprint is a
/// retry; with another it is refused. It depends only on an event's content, so the log gives it again.
package struct Fingerprint: Hashable, Sendable {
  package let bytes: UUIDBytes

  package init(bytes: UUIDBytes) {
    self.bytes = bytes
  }

  /// The first half of a SHA-256 over the fields. Each field begins with its length, so no two lists are encoded alike.
  package init(_ fields: Field...) {
    self.init(fields)
  }

  /// The same, for a list whose length is not known when compiling.
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
