package import ChatPrimitives

/// The numbers of `docs/log-format.md`. All integers in the files are little-endian.
package enum LogFormat {
  /// The version in every header.
  package static let version: UInt8 = 1

  // MARK: Sizes, in bytes

  /// A segment's header.
  package static let segmentHeaderBytes = 4096
  /// A block's header.
  package static let blockHeaderBytes = 64
  /// Blocks start at multiples of this.
  package static let blockAlignment = 8
  /// One copy of the superblock.
  package static let superblockBytes = 512
  /// From one copy of the superblock to the other: a page, so that no write touches both.
  package static let superblockStride = 4096
  /// Length, form, reserved byte and length of the envelope.
  package static let recordHeaderBytes = 8
  /// The digest that replaces an erased payload (SHA-256).
  package static let digestBytes = 32
  /// The salt that a record carries of its own.
  package static let saltBytes = 16
  /// One Merkle peak (SHA-256).
  package static let merklePeakBytes = 32

  // MARK: Limits

  /// The records of one block before compression, in bytes.
  package static let maximumRawBytes = 4 * 1024 * 1024
  /// One payload, in bytes.
  package static let maximumPayloadBytes = 1024 * 1024
  /// Records of one sealed block.
  package static let maximumBlockRecords = 65_536
  /// The LZ4 dictionary of a sealed segment, in bytes: LZ4 refers back no further.
  package static let maximumDictionaryBytes = 64 * 1024
  /// A section's raw length over its stored: LZ4 cannot do better.
  package static let maximumSectionRatio = 255
  /// Merkle peaks in a segment's header: one per bit of a position.
  package static let maximumMerklePeaks = 64
  /// The shortest segment: its header and room for one small block, in bytes.
  package static let minimumSegmentBytes = segmentHeaderBytes + 512
  /// The longest segment, in bytes, so that offsets in it fit 32 bits.
  package static let maximumSegmentBytes = 1024 * 1024 * 1024
  /// The highest position, so that adding a block's count never overflows.
  package static let maximumPosition = LogPosition(1 << 62)

  // MARK: Magic numbers, as they read in a hex dump

  static let segmentMagic: UInt64 = magic("HANSARDS")
  static let superblockMagic: UInt64 = magic("HANSARDB")
  static let blockMagic: UInt32 = 0x4B4C_4248  // "HBLK"

  private static func magic(_ text: StaticString) -> UInt64 {
    text.withUTF8Buffer { bytes in
      bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// The next multiple of the block alignment.
  static func aligned(_ bytes: Int) -> Int {
    (bytes + blockAlignment - 1) / blockAlignment * blockAlignment
  }
}
