import ChatPrimitives
import Crypto

extension CommandID {
  /// The maximum length of a key, in bytes.
  static let keyBytes = 255
  private static let printable: ClosedRange<UInt8> = 0x20...0x7e

  /// The ID for an `Idempotency-Key`. A UUID is its own ID, in upper or lower case. Any other key gets the first bytes of
  /// its SHA-256, because records have space for a UUID only.
  /// - Returns: nil if the key is empty, too long, or not printable ASCII.
  init?(key: String) {
    if let id = CommandID(key) {
      self = id
      return
    }
    guard (1...Self.keyBytes).contains(key.utf8.count), key.utf8.allSatisfy(Self.printable.contains),
      let uuid = UUIDBytes(bytes: Array(SHA256.hash(data: Array(key.utf8)).prefix(UUIDBytes.byteCount)))
    else { return nil }
    self.init(uuid)
  }
}
