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
    var encoded: [UInt8] = []
    for field in fields { field.append(to: &encoded) }
    bytes = UUIDBytes(bytes: Array(SHA256.hash(data: encoded).prefix(UUIDBytes.byteCount))) ?? .zero
  }

  /// One part of an event's content.
  package enum Field: Sendable {
    case text(String?)
    case id(UUIDBytes?)
    case number(Int64?)
    case bytes([UInt8])

    fileprivate func append(to encoded: inout [UInt8]) {
      switch self {
      case .text(let text): Self.append(text?.utf8, to: &encoded)
      case .id(let id): Self.append(id?.bytes, to: &encoded)
      case .number(let number):
        Self.append(number.map { withUnsafeBytes(of: $0.littleEndian) { Array($0) } }, to: &encoded)
      case .bytes(let bytes): Self.append(bytes, to: &encoded)
      }
    }

    private static func append(_ bytes: (some Collection<UInt8>)?, to encoded: inout [UInt8]) {
      withUnsafeBytes(of: Int64(bytes?.count ?? -1).littleEndian) { encoded.append(contentsOf: $0) }
      if let bytes { encoded.append(contentsOf: bytes) }
    }
  }
}
