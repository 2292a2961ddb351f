import ChatPrimitives

/// The UUIDs of a dense block that have no number in the table, as bit planes. Common bits of UUIDs with a similar time
/// or the same version then take almost no space. See `docs/log-format.md`, "Columns".
struct FreshUUIDs {
  private static let bits = 128
  private static let timeMask: UInt64 = 1 << 48 - 1

  private(set) var uuids: [UUIDBytes] = []

  init() {}

  /// Adds a UUID of a record.
  /// - Parameter time: the record's original time, or its recorded time if it has no original time. UUIDs of version 7
  ///   begin with a time near it, so only the difference is stored.
  mutating func append(_ uuid: UUIDBytes, at time: Timestamp) {
    uuids.append(Self.shifted(uuid, by: 0 &- UInt64(bitPattern: time.milliseconds)))
  }

  /// The UUID at `index` in the order of adding; nil if there are fewer.
  func uuid(_ index: Int, at time: Timestamp) -> UUIDBytes? {
    guard index < uuids.count else { return nil }
    return Self.shifted(uuids[index], by: UInt64(bitPattern: time.milliseconds))
  }

  /// Adds to the first 48 bits, modulo 2^48.
  private static func shifted(_ uuid: UUIDBytes, by difference: UInt64) -> UUIDBytes {
    let time = (uuid.high >> 16 &+ difference) & timeMask
    return UUIDBytes(high: time << 16 | uuid.high & 0xffff, low: uuid.low)
  }

  // MARK: Planes

  /// Encodes 128 planes, beginning with the first bits of all UUIDs. Each plane is padded with zeros to whole bytes.
  func encoded() -> [UInt8] {
    let stride = (uuids.count + 7) / 8
    var bytes = [UInt8](repeating: 0, count: stride * Self.bits)
    for start in Swift.stride(from: 0, to: uuids.count, by: 64) {
      let group = uuids[start..<min(start + 64, uuids.count)]
      for (half, words) in [group.map(\.high), group.map(\.low)].enumerated() {
        let rows = BitMatrix.transposed(words + Array(repeating: 0, count: 64 - words.count))
        for (row, word) in rows.enumerated() {
          let offset = (half * 64 + row) * stride + start / 8
          for index in 0..<min(8, stride - start / 8) {
            bytes[offset + index] = UInt8(truncatingIfNeeded: word >> (56 - UInt64(index) * 8))
          }
        }
      }
    }
    return bytes
  }

  /// - Parameter column: the planes. Call `isPadding` at the end to check the bits after the last UUID.
  init(parsing column: ByteCursor) throws(FormatFlaw) {
    guard column.remaining % Self.bits == 0 else { throw FormatFlaw("the planes of the fresh UUIDs are cut short") }
    let stride = column.remaining / Self.bits
    uuids.reserveCapacity(stride * 8)
    for start in Swift.stride(from: 0, to: stride, by: 8) {
      let count = min(8, stride - start)
      let halves = (0..<2).map { half in
        BitMatrix.transposed(
          (0..<64).map { row in
            var word: UInt64 = 0
            for index in 0..<count {
              word |=
                UInt64(column.byte(at: (half * 64 + row) * stride + start + index) ?? 0) << (56 - UInt64(index) * 8)
            }
            return word
          })
      }
      for index in 0..<count * 8 { uuids.append(UUIDBytes(high: halves[0][index], low: halves[1][index])) }
    }
  }

  /// Whether the planes hold only the first `used` UUIDs: in each plane, less than a byte is left, and its bits are
  /// zero.
  func isPadding(after used: Int) -> Bool {
    used <= uuids.count && uuids.count - used < 8 && uuids[used...].allSatisfy { $0 == .zero }
  }
}

/// A matrix of 64 times 64 bits.
enum BitMatrix {
  /// Turns rows into columns, where the first row and the highest bit come first. Swaps ever smaller squares (Hacker's
  /// Delight, section 7-3).
  static func transposed(_ rows: [UInt64]) -> [UInt64] {
    var rows = rows
    var size = 32
    var mask: UInt64 = 0x0000_0000_ffff_ffff
    while size > 0 {
      var row = 0
      while row < 64 {
        let swapped = (rows[row] ^ rows[row + size] >> UInt64(size)) & mask
        rows[row] ^= swapped
        rows[row + size] ^= swapped << UInt64(size)
        row = (row + size + 1) & ~size
      }
      size >>= 1
      mask ^= mask << UInt64(size)
    }
    return rows
  }
}
