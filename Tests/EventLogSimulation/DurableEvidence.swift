/// What the bytes on a disk still prove to have been durable. It reads them by `docs/log-format.md` and shares no code
/// with the engine, so that it can judge whether the engine may cut a tail.
enum DurableEvidence {
  /// The highest durable position in an intact superblock copy, or in an intact block header of the last segment.
  /// - Parameter files: the files by their names in `log/`.
  static func highest(in files: [String: [UInt8]]) -> UInt64 {
    var highest: UInt64 = 0
    if let superblock = files["superblock"] {
      for start in [0, 4096] where superblock.count >= start + 512 {
        let copy = superblock[start..<start + 512]
        if copy.starts(with: "HANSARDB".utf8), holds(copy) { highest = max(highest, integer(copy, at: 40)) }
      }
    }
    guard let tail = files.keys.filter({ $0.hasSuffix(".seg") }).max(), let bytes = files[tail] else { return highest }
    guard bytes.count >= 4096, holds(bytes[..<4096]) else { return highest }
    let salt = integer(bytes[...], at: 40)
    for start in stride(from: 4096, through: bytes.count - 64, by: 8) where bytes[start] == UInt8(ascii: "H") {
      let header = bytes[start..<start + 64]
      if header.starts(with: "HBLK".utf8), integer(header, at: 8) == salt, holds(header) {
        highest = max(highest, integer(header, at: 24))
      }
    }
    return highest
  }

  private static func integer(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt64 {
    let start = bytes.startIndex + offset
    return bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether the last four bytes are the CRC-32C of those before.
  private static func holds(_ bytes: ArraySlice<UInt8>) -> Bool {
    var state: UInt32 = ~0
    for byte in bytes.dropLast(4) {
      state ^= UInt32(byte)
      for _ in 0..<8 { state = state >> 1 ^ (state & 1 == 0 ? 0 : 0x82f6_3b78) }
    }
    return bytes.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } == ~state
  }
}
