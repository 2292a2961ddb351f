import ChatPrimitives

/// The first 4096 bytes of a segment, which are enough to read it without any other file.
struct SegmentHeader: Hashable {
  enum Kind: UInt16 {
    /// The blocks hold rows and were appended one by one.
    case active = 1
    /// The segment was rewritten densely, with an index, and is never changed again.
    case sealed = 2
  }

  var identity: LogIdentity
  var first: LogPosition
  /// A random number that every block header of the segment repeats.
  var salt: UInt64
  var created: Timestamp
  /// The checksum of the last block header of the previous segment; zero in the first segment.
  var previousChecksum: UInt32
  /// The length of the file, header included, in bytes.
  var segmentBytes: UInt64
  /// The recorded time of the last record before this segment; `Timestamp.earliest` in the first segment.
  var lastTime: Timestamp
  /// Nil for an active segment.
  var seal: SegmentSeal?

  var kind: Kind { seal == nil ? .active : .sealed }
}

/// The name of a segment's file: its first position in 20 digits, so that names sort in the order of positions.
enum SegmentName {
  static let suffix = ".seg"
  static let digits = 20

  static func of(_ first: LogPosition) -> String { digits(of: first) + suffix }

  /// A position in 20 digits.
  static func digits(of position: LogPosition) -> String {
    let text = String(position.value)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  /// - Returns: nil if the file is not a segment.
  static func position(_ name: String) -> LogPosition? {
    guard name.utf8.count == digits + suffix.utf8.count, name.hasSuffix(suffix),
      let value = UInt64(name.dropLast(suffix.count)), value >= 1, value <= LogFormat.maximumPosition.value,
      of(LogPosition(value)) == name
    else { return nil }
    return LogPosition(value)
  }
}

// MARK: - Bytes

extension SegmentHeader {
  /// The offset of the header's own checksum, which covers all bytes before it.
  static let checksumOffset = LogFormat.segmentHeaderBytes - 4
  /// The offset of the Merkle peaks.
  static let peaksOffset = 64
  /// The offset of the first byte after the space for the peaks.
  static let afterPeaksOffset = peaksOffset + LogFormat.maximumMerklePeaks * LogFormat.merklePeakBytes

  /// - Returns: the 4096 bytes, and the checksum, which is the first block's `chain` in an active segment.
  func encoded() -> (bytes: [UInt8], checksum: UInt32) {
    var bytes = [UInt8](repeating: 0, count: LogFormat.segmentHeaderBytes)
    let checksum = bytes.withUnsafeMutableBytes { target in
      target.put(LogFormat.segmentMagic, at: 0)
      target.put(UInt32(LogFormat.version), at: 8)
      target.put(kind.rawValue, at: 12)
      target.put(identity.bytes, at: 16)
      target.put(first.value, at: 32)
      target.put(salt, at: 40)
      target.put(created.milliseconds, at: 48)
      target.put(previousChecksum, at: 56)
      if let seal {
        // There are at most 64 peaks.
        target.put(UInt32(seal.peaks.count / LogFormat.merklePeakBytes), at: 60)
        UnsafeMutableRawBufferPointer(rebasing: target[Self.peaksOffset...]).copyBytes(from: seal.peaks)
        seal.encode(into: target)
      }
      target.put(segmentBytes, at: Self.afterPeaksOffset)
      target.put(lastTime.milliseconds, at: Self.afterPeaksOffset + 8)
      let checksum = CRC32C.of(UnsafeRawBufferPointer(rebasing: target[..<Self.checksumOffset]))
      target.put(checksum, at: Self.checksumOffset)
      return checksum
    }
    return (bytes, checksum)
  }

  /// The stored checksum, unverified.
  static func checksum(in bytes: RawSpan) -> UInt32 {
    bytes.integer(at: checksumOffset) ?? 0
  }

  init(parsing bytes: RawSpan) throws(FormatFlaw) {
    guard bytes.byteCount == LogFormat.segmentHeaderBytes, let magic = bytes.integer(at: 0, as: UInt64.self),
      let version = bytes.integer(at: 8, as: UInt32.self), let kindNumber = bytes.integer(at: 12, as: UInt16.self),
      let identity = bytes.uuid(at: 16), let first = bytes.integer(at: 32, as: UInt64.self),
      let salt = bytes.integer(at: 40, as: UInt64.self), let created = bytes.integer(at: 48, as: Int64.self),
      let previous = bytes.integer(at: 56, as: UInt32.self), let peaks = bytes.integer(at: 60, as: UInt32.self),
      let length = bytes.integer(at: Self.afterPeaksOffset, as: UInt64.self),
      let lastTime = bytes.integer(at: Self.afterPeaksOffset + 8, as: Int64.self)
    else { throw FormatFlaw("the segment is shorter than its header") }
    guard magic == LogFormat.segmentMagic else {
      throw FormatFlaw("the file does not begin with the magic of a segment")
    }
    guard CRC32C.of(bytes.extracting(..<Self.checksumOffset)) == Self.checksum(in: bytes) else {
      throw FormatFlaw("the checksum of the segment header does not match")
    }
    guard version == UInt32(LogFormat.version), let kind = Kind(rawValue: kindNumber), bytes.isZero(14..<16) else {
      throw FormatFlaw(
        "the segment has format version \(version), kind \(kindNumber) or unknown flags", kind: .unknownVersion)
    }
    guard first >= 1, first <= LogFormat.maximumPosition.value else {
      throw FormatFlaw("the segment's first position \(first) is out of bounds")
    }
    let shortest: Int
    let seal: SegmentSeal?
    switch kind {
    case .active:
      guard peaks == 0, bytes.isZero(Self.peaksOffset..<Self.afterPeaksOffset),
        bytes.isZero(Self.afterPeaksOffset + 16..<Self.checksumOffset)
      else { throw FormatFlaw("the active segment has Merkle peaks or unknown fields", kind: .unknownVersion) }
      shortest = LogFormat.minimumSegmentBytes
      seal = nil
    case .sealed:
      shortest = LogFormat.segmentHeaderBytes + LogFormat.blockHeaderBytes
      seal = try SegmentSeal(parsing: bytes, first: first, peakCount: peaks, segmentBytes: length)
    }
    guard length >= UInt64(shortest), length <= UInt64(LogFormat.maximumSegmentBytes) else {
      throw FormatFlaw("the segment's length \(length) is out of bounds")
    }
    self.init(
      identity: LogIdentity(bytes: identity), first: LogPosition(first), salt: salt,
      created: Timestamp(milliseconds: created), previousChecksum: previous, segmentBytes: length,
      lastTime: Timestamp(milliseconds: lastTime), seal: seal)
  }
}
