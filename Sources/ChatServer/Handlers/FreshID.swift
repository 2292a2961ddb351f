import ChatPrimitives
import Foundation

/// Makes IDs for clients that sent neither an ID nor an `Idempotency-Key`: UUID version 7 (RFC 9562, section 5.7). Such
/// a request cannot be retried safely, because the next attempt gets another ID.
enum FreshID {
  static func make<Entity>() -> ID<Entity> {
    let milliseconds = UInt64(Date().timeIntervalSince1970 * 1000)
    let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0..<0x1000)
    let low = UInt64.random(in: 0..<(1 << 62)) | 1 << 63
    return ID(UUIDBytes(high: high, low: low))
  }
}
