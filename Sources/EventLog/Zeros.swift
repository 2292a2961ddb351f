import Glibc

/// A block of zeros. Segments are filled with it, and their unused ends are compared with it.
enum Zeros {
  /// The length of `block`, in bytes.
  static let blockBytes = 64 * 1024
  static let block = [UInt8](repeating: 0, count: blockBytes)

  /// Compares with `memcmp`, which reads 32 bytes at a time where a loop would read one.
  static func holdsOnlyZeros(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    return block.withUnsafeBytes { zeros in
      guard let zero = zeros.baseAddress else { return false }
      var offset = 0
      while offset < bytes.count {
        let step = min(blockBytes, bytes.count - offset)
        guard memcmp(start + offset, zero, step) == 0 else { return false }
        offset += step
      }
      return true
    }
  }
}
