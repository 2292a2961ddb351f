/// Stands for an app's own type of message in `search`. It has a fixed length, so that it can be overwritten in place when
/// the message is deleted.
struct TypeHash: Sendable, Hashable {
  /// Eight bytes; none for a message without a type.
  let bytes: [UInt8]

  /// The 64-bit FNV-1a hash of the type. Two types seldom have the same hash; see `SearchRequest.type`.
  init(_ type: String?) {
    guard let type else {
      bytes = []
      return
    }
    let hash = type.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    bytes = withUnsafeBytes(of: hash.bigEndian) { Array($0) }
  }

  init(stored bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isNone: Bool { bytes.isEmpty }
}
