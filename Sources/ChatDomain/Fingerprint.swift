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
    encoded.reserveCapacity(fields.reduce(0) { $0 + $1.encodedBytes })
    for field in fields { field.append(to: &encoded) }
    bytes = SHA256.hash(data: encoded).withUnsafeBytes { UUIDBytes(bytes: $0.prefix(UUIDBytes.byteCount)) } ?? .zero
  }

  /// One part of an event's content.
  package enum Field: Sendable {
    case text(String?)
    case id(UUIDBytes?)
    case number(Int64?)
    case bytes([UInt8])

    private static let lengthBytes = MemoryLayout<Int64>.size

    /// The length of the encoded field.
    fileprivate var encodedBytes: Int { Self.lengthBytes + contentBytes }

    private var contentBytes: Int {
      switch self {
      case .text(let text): text?.utf8.count ?? 0
      case .id(let id): id == nil ? 0 : UUIDBytes.byteCount
      case .number(let number): number == nil ? 0 : MemoryLayout<Int64>.size
      case .bytes(let bytes): bytes.count
      }
    }

    fileprivate func append(to encoded: inout [UInt8]) {
      switch self {
      case .text(var text?): text.withUTF8 { Self.append(UnsafeRawBufferPointer($0), to: &encoded) }
      case .id(let id?):
        withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { Self.append($0, to: &encoded) }
      case .number(let number?): withUnsafeBytes(of: number.littleEndian) { Self.append($0, to: &encoded) }
      case .bytes(let bytes): bytes.withUnsafeBytes { Self.append($0, to: &encoded) }
      case .text(nil), .id(nil), .number(nil): Self.append(nil, to: &encoded)
      }
    }

    private static func append(_ bytes: UnsafeRawBufferPointer?, to encoded: inout [UInt8]) {
      withUnsafeBytes(of: Int64(bytes?.count ?? -1).littleEndian) { encoded.append(contentsOf: $0) }
      if let bytes { encoded.append(contentsOf: bytes) }
    }
  }
}
