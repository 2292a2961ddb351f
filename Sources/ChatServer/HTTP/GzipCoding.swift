private import CISAL
import ChatPrimitives
import NIOCore

/// The content coding `gzip` (RFC 9110, section 8.4.1.3).
enum GzipCoding {
  static let name = "gzip"

  /// Whether an `Accept-Encoding` names it with a weight above 0 (RFC 9110, section 12.5.3).
  static func isAccepted(by header: String?) -> Bool {
    guard let header else { return false }
    return header.split(separator: ",").contains { coding in
      let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let first = parts.first, first == name || first == "x-gzip" else { return false }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
      return weight.map { Double($0.dropFirst(2)) ?? 0 > 0 } ?? true
    }
  }

  /// - Returns: nil if the result would not be shorter.
  static func encode(_ bytes: ByteBuffer) -> ByteBuffer? {
    guard bytes.readableBytes > 0, let count = UInt32(exactly: bytes.readableBytes) else { return nil }
    var encoded = ByteBuffer()
    let length = encoded.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.readableBytes) { member in
      bytes.withUnsafeReadableBytes { plain in
        guard let from = plain.bindMemory(to: UInt8.self).baseAddress,
          let to = member.bindMemory(to: UInt8.self).baseAddress
        else { return 0 }
        return isal_gzip(from, count, to, count - 1)
      }
    }
    return length > 0 ? encoded : nil
  }
}
