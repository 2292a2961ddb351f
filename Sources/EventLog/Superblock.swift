import ChatPrimitives

/// The durable position when the log was last at rest. Two copies alternate, so that a torn write leaves the other
/// intact.
struct Superblock: Hashable {
  static let fileName = "superblock"
  static let fileBytes = LogFormat.superblockStride * 2

  var identity: LogIdentity
  /// Grows by one with each write. The copy with the higher number is used.
  var sequence: UInt64
  var durable: LogPosition
  /// The number of damaged copies in the file that it was read from.
  var damagedCopies = 0

  /// The offset of the copy with this sequence number: even numbers go to the first copy, odd numbers to the second.
  static func offset(sequence: UInt64) -> UInt64 {
    sequence % 2 == 0 ? 0 : UInt64(LogFormat.superblockStride)
  }
}

// MARK: - Bytes

extension Superblock {
  /// The offset of the copy's own checksum, which covers all bytes before it.
  static let checksumOffset = LogFormat.superblockBytes - 4

  func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: LogFormat.superblockBytes)
    bytes.withUnsafeMutableBytes { target in
      target.put(LogFormat.superblockMagic, at: 0)
      target.put(UInt32(LogFormat.version), at: 8)
      target.put(identity.bytes, at: 16)
      target.put(sequence, at: 32)
      target.put(durable.value, at: 40)
      target.put(CRC32C.of(UnsafeRawBufferPointer(rebasing: target[..<Self.checksumOffset])), at: Self.checksumOffset)
    }
    return bytes
  }

  /// The content of a new file: two copies that differ only in the sequence number.
  static func newFile(identity: LogIdentity, durable: LogPosition = .origin) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: fileBytes)
    for sequence in UInt64(0)...1 {
      let copy = Superblock(identity: identity, sequence: sequence, durable: durable).encoded()
      let start = sequence == 0 ? 0 : LogFormat.superblockStride
      bytes.replaceSubrange(start..<start + copy.count, with: copy)
    }
    return bytes
  }

  init(parsing bytes: RawSpan) throws(FormatFlaw) {
    guard bytes.byteCount == LogFormat.superblockBytes, let magic = bytes.integer(at: 0, as: UInt64.self),
      let version = bytes.integer(at: 8, as: UInt32.self), let identity = bytes.uuid(at: 16),
      let sequence = bytes.integer(at: 32, as: UInt64.self), let durable = bytes.integer(at: 40, as: UInt64.self),
      let checksum = bytes.integer(at: Self.checksumOffset, as: UInt32.self)
    else { throw FormatFlaw("the superblock is cut short") }
    guard magic == LogFormat.superblockMagic, CRC32C.of(bytes.extracting(..<Self.checksumOffset)) == checksum else {
      throw FormatFlaw("the checksum of the superblock does not match")
    }
    guard version == UInt32(LogFormat.version), bytes.isZero(12..<16), bytes.isZero(48..<Self.checksumOffset) else {
      throw FormatFlaw("the superblock has format version \(version) or unknown fields", kind: .unknownVersion)
    }
    guard durable <= LogFormat.maximumPosition.value, sequence < UInt64.max else {
      throw FormatFlaw("the superblock's position \(durable) is out of bounds")
    }
    self.init(identity: LogIdentity(bytes: identity), sequence: sequence, durable: LogPosition(durable))
  }

  /// Whether a copy's own checksum matches.
  private static func holds(_ bytes: RawSpan) -> Bool {
    bytes.integer(at: checksumOffset, as: UInt32.self) == CRC32C.of(bytes.extracting(..<checksumOffset))
  }

  /// Returns the newer copy of those whose checksum matches. A copy with a correct checksum that breaks another rule
  /// was not written by this code, so it makes the file corrupt.
  static func newest(in file: RawSpan) throws(FormatFlaw) -> Superblock {
    var found: Superblock?
    var damaged = 0
    var flaw = FormatFlaw("the superblock is shorter than its two copies")
    guard file.byteCount == fileBytes else { throw flaw }
    for start in [0, LogFormat.superblockStride] {
      let bytes = file.extracting(start..<start + LogFormat.superblockBytes)
      guard holds(bytes) else {
        flaw = FormatFlaw("the checksum of the superblock does not match")
        damaged += 1
        continue
      }
      let copy = try Superblock(parsing: bytes)
      guard offset(sequence: copy.sequence) == UInt64(start) else {
        throw FormatFlaw("copy \(copy.sequence) of the superblock is in the place of the other copy")
      }
      guard file.isZero(start + LogFormat.superblockBytes..<start + LogFormat.superblockStride) else {
        throw FormatFlaw("bytes that are not zero follow a copy of the superblock")
      }
      if found.map({ copy.sequence > $0.sequence }) ?? true { found = copy }
    }
    guard var found else { throw flaw }
    found.damagedCopies = damaged
    return found
  }
}
