import ChatPrimitives

/// The 64 bytes before a block's body.
struct BlockHeader: Hashable {
  var codec: BlockCodec
  /// The salt of the segment. A payload that imitates a header cannot contain it, because the salt is random.
  var salt: UInt64
  var first: LogPosition
  /// The head when the block was written: every record up to this position was durable.
  var knownDurable: LogPosition
  var count: Int
  var rawBytes: Int
  var storedBytes: Int
  var bodyChecksum: UInt32
  /// The checksum of the previous header in this segment: the previous block's, or the segment's for the first block.
  var chain: UInt32

  var last: LogPosition { first.advanced(by: count - 1) }
  var next: LogPosition { first.advanced(by: count) }
  /// The length of header, body and padding, in bytes.
  var frameBytes: Int { LogFormat.aligned(LogFormat.blockHeaderBytes + storedBytes) }
}

// MARK: - Bytes

extension BlockHeader {
  /// The offset of the header's own checksum, which covers all bytes before it.
  static let checksumOffset = 60

  /// Writes the 64 bytes to the start of `target`.
  /// - Returns: the header's checksum, which is the next block's `chain`.
  func encode(into target: UnsafeMutableRawBufferPointer) -> UInt32 {
    target.put(LogFormat.blockMagic, at: 0)
    target.put(LogFormat.version, at: 4)
    target.put(codec.rawValue, at: 5)
    target.put(UInt16(0), at: 6)
    target.put(salt, at: 8)
    target.put(first.value, at: 16)
    target.put(knownDurable.value, at: 24)
    // `LogFormat.maximumRawBytes` bounds the next three values.
    target.put(UInt32(count), at: 32)
    target.put(UInt32(rawBytes), at: 36)
    target.put(UInt32(storedBytes), at: 40)
    target.put(bodyChecksum, at: 44)
    target.put(chain, at: 48)
    target.put(UInt64(0), at: 52)
    let checksum = CRC32C.of(UnsafeRawBufferPointer(rebasing: target[..<Self.checksumOffset]))
    target.put(checksum, at: Self.checksumOffset)
    return checksum
  }

  /// The stored checksum, unverified.
  static func checksum(in bytes: RawSpan) -> UInt32 {
    bytes.integer(at: checksumOffset) ?? 0
  }

  /// Whether the magic number is at `offset`: a cheap first test in the search for headers.
  static func looksLikeHeader(_ bytes: RawSpan, at offset: Int) -> Bool {
    bytes.integer(at: offset, as: UInt32.self) == LogFormat.blockMagic
  }

  /// Parses 64 bytes. Verifies the checksum, the version, every reserved byte and every bound.
  init(parsing bytes: RawSpan) throws(FormatFlaw) {
    guard bytes.byteCount == LogFormat.blockHeaderBytes,
      let magic = bytes.integer(at: 0, as: UInt32.self), let version = bytes.integer(at: 4, as: UInt8.self),
      let codecByte = bytes.integer(at: 5, as: UInt8.self), let salt = bytes.integer(at: 8, as: UInt64.self),
      let first = bytes.integer(at: 16, as: UInt64.self), let durable = bytes.integer(at: 24, as: UInt64.self),
      let count = bytes.integer(at: 32, as: UInt32.self), let raw = bytes.integer(at: 36, as: UInt32.self),
      let stored = bytes.integer(at: 40, as: UInt32.self), let body = bytes.integer(at: 44, as: UInt32.self),
      let chain = bytes.integer(at: 48, as: UInt32.self)
    else { throw FormatFlaw("there is no space for a block header") }
    guard magic == LogFormat.blockMagic else { throw FormatFlaw("there is no block header here") }
    guard CRC32C.of(bytes.extracting(..<Self.checksumOffset)) == Self.checksum(in: bytes) else {
      throw FormatFlaw("the checksum of the block header does not match")
    }
    guard version == LogFormat.version else {
      throw FormatFlaw("the block has format version \(version)", kind: .unknownVersion)
    }
    guard let codec = BlockCodec(rawValue: codecByte), bytes.isZero(6..<8), bytes.isZero(52..<60) else {
      throw FormatFlaw("the block header has an unknown codec (\(codecByte)) or flags", kind: .unknownVersion)
    }
    guard first >= 1, first <= LogFormat.maximumPosition.value, durable < first else {
      throw FormatFlaw("the block header's positions \(first) and \(durable) are out of bounds")
    }
    let most =
      codec.isColumns
      ? min(LogFormat.maximumBlockRecords, Int(raw) / Columns.minimumRecordBytes) : Int(raw) / LogRecord.minimumBytes
    guard raw <= UInt32(LogFormat.maximumRawBytes), count >= 1, Int(count) <= most else {
      throw FormatFlaw("the block header's count \(count) or raw length \(raw) is out of bounds")
    }
    guard codec.isStored ? stored == raw : stored >= 1 && stored < raw else {
      throw FormatFlaw("the block header's stored length \(stored) is out of bounds")
    }
    self.init(
      codec: codec, salt: salt, first: LogPosition(first), knownDurable: LogPosition(durable), count: Int(count),
      rawBytes: Int(raw), storedBytes: Int(stored), bodyChecksum: body, chain: chain)
  }
}
